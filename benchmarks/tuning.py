"""Results of variance-aware tuning (TProfiler, §7.5, Appendix B, Table 3) on servers of today, by `tare tune run`.

Each trial compares values of one setting under TPC-C at a fixed rate: blocks that hold each arm once, the baseline
twice. Settings that need a restart run on clones of the server, each with a fresh copy of the data. The paper gives
ratios of the original over the modified server; here they are the modified over the original, below 1 is better.

    python -m benchmarks.tuning --page FILE     writes the tables into a page, between its marks
    python -m benchmarks.tuning --only flush    trials whose name has this word
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import Figure, arguments, command_of, report
from tare.dbms.servers import RunningServer, start_mariadb, start_mysql, start_postgresql
from tare.report.tune.document import ArmReport, TuningReport
from tare.tune.verdicts import Objective, Verdict

OBJECTIVES = (Objective.MEAN, Objective.VARIANCE, Objective.P99)


@dataclass(frozen=True)
class Trial:
    """Values of a setting. `paper`: by arm, its ratios of mean, variance and p99, modified over original."""

    name: str
    title: str
    start: Callable[..., RunningServer]
    values: Mapping[str, str]  # setting=value, and what it is called
    server: Mapping[str, str] = field(default_factory=dict)
    rate: int = 150
    blocks: int = 12
    paper: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


FLUSH = {
    "innodb_flush_log_at_trx_commit=2": "lazy flush",
    "innodb_flush_log_at_trx_commit=0": "lazy write",
}
TUNED = (1 / 1.2, 1 / 1.4, 1 / 1.2)  # Table 3, fil_flush: the better of both policies

TRIALS = (
    Trial(
        "mysql flush",
        "Log flush policy of MySQL 5.6.24 (Figure 3, right; Table 3, `fil_flush`)",
        start_mysql,
        FLUSH,
        {"innodb-buffer-pool-size": "256M", "innodb-log-file-size": "256M"},
        paper={"innodb_flush_log_at_trx_commit=0": TUNED},
    ),
    Trial(
        "mysql pool",
        "Buffer pool of MySQL 5.6.24, 33% of the data against 66% and 100% (Figure 3, centre)",
        start_mysql,
        {"innodb_buffer_pool_size=83886080": "66%", "innodb_buffer_pool_size=134217728": "100%"},
        {"innodb-buffer-pool-size": "40M", "innodb-log-file-size": "256M", "innodb-flush-method": "O_DIRECT"},
        blocks=6,
    ),
    Trial(
        "mariadb flush",
        "Log flush policy of MariaDB",
        start_mariadb,
        FLUSH,
        {"innodb-buffer-pool-size": "256M"},
    ),
    Trial(
        "postgresql log",
        "Log of PostgreSQL",
        start_postgresql,
        {
            "synchronous_commit=off": "commits that do not wait for the log",
            "commit_delay=200": "group commit that waits for others",
            "wal_sync_method=open_datasync": "writes that are durable by themselves",
        },
        {"shared_buffers": "256MB"},
    ),
    Trial(
        "postgresql pool",
        "Shared buffers of PostgreSQL",
        start_postgresql,
        {"shared_buffers=80MB": "66%", "shared_buffers=128MB": "100%"},
        {"shared_buffers": "40MB"},
        blocks=6,
    ),
)


def measured(trial: Trial, folder: str, *, small: bool) -> TuningReport:
    """Load TPC-C with one warehouse and compare the values; if `small`, YCSB."""
    workload, scale = ("ycsb", "0.1") if small else ("tpcc", "1")
    environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state"}
    with trial.start(settings=dict(trial.server)) as server:
        load = ("bench", "oltp", "load", workload, "--db", server.url, "--scale", scale)
        subprocess.run(command_of(*load), env=environment, check=True, stdout=subprocess.DEVNULL)
        arms = [word for value in trial.values for word in ("--set", value)]
        shape = (
            ("--blocks", "2", "--window", "1s", "--settle", "0.2s", "--warmup", "0.5s", "--rate", "80")
            if small
            else (
                "--blocks",
                str(trial.blocks),
                "--window",
                "5s",
                "--warmup",
                "5s",
                "--rate",
                str(trial.rate),
            )
        )
        run = ("tune", "run", workload, "--db", server.url, *arms, *shape, "--connections", "16")
        place = ("--tunings", f"{folder}/tunings", "--objective", "mean,variance,p99", "--json", "-")
        done = subprocess.run(
            command_of(*run, *place), env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
    return TuningReport.model_validate(json.loads(done.stdout))


def table(trial: Trial, found: TuningReport) -> str:
    """Ratios over the baseline with their 95% intervals, the noise floor, and the paper's."""
    titles = ("arm", "what it does", *(objective.value for objective in OBJECTIVES), "durability")
    rows: list[Sequence[str]] = [titles, ["---"] * len(titles)]
    floors = {floor.objective: floor.ratio for floor in found.floors}
    rows.append(["baseline again", "noise floor", *(_ratio(floors[each]) for each in OBJECTIVES), ""])
    for arm in found.arms:
        lost = "; ".join(loss.what for loss in arm.losses) or "kept"
        ratios = [_cell(arm, objective) for objective in OBJECTIVES]
        rows.append([f"`{arm.name}`", trial.values.get(arm.name, ""), *ratios, lost])
        if arm.name in trial.paper:
            ours = [f"{ratio:.2f}" for ratio in trial.paper[arm.name]]
            rows.append(["", "the paper's", *ours, ""])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    conditions = (
        f"{found.dbms} {found.server_version}, TPC-C with {found.scale:g} warehouse at "
        f"{found.specification.load.rate:g}/s, "
        f"{found.blocks} blocks of {found.specification.blocks.window_s:g} s windows"
        + (", each on a clone" if found.is_restarted else "")
        + (f"; others used {found.others:.2f} CPUs" if found.others is not None else "")
        + ("" if found.is_result else "; **not a result**: " + " ".join(found.headline))
    )
    return "\n".join([f"## {trial.title}", "", f"{conditions}.", "", *lines, ""])


def _cell(arm: ArmReport, objective: Objective) -> str:
    result = next(one for one in arm.results if one.objective is objective)
    return f"{_ratio(result.ratio)} {result.verdict.value}"


def _ratio(ratio: object) -> str:
    if ratio is None:
        return "–"
    value, low, high = (getattr(ratio, name) for name in ("value", "low", "high"))
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def figures(found: Mapping[str, TuningReport]) -> Iterator[Figure]:
    holding = [floor.holds_1 for each in found.values() for floor in each.floors]
    yield Figure(
        "noise floors that leave out 1",
        len(holding) - sum(holding),
        "",
        0.1 * len(holding),
        spread=f"of {len(holding)}",
    )
    decided = [
        result.verdict not in (Verdict.UNDECIDED, Verdict.NOT_MEASURED)
        for each in found.values()
        for arm in each.arms
        for result in arm.results
    ]
    yield Figure("effects that are decided", sum(decided), "", math.inf, spread=f"of {len(decided)}")


def write(page: Path, tables: Sequence[str]) -> None:
    """Put the tables between the page's marks."""
    begin, end = "<!-- tables -->", "<!-- end of tables -->"
    text = page.read_text(encoding="utf-8")
    inside = "\n".join(["", *tables])
    page.write_text(
        re.sub(f"(?s){begin}.*{end}", lambda _: f"{begin}\n{inside}{end}", text), encoding="utf-8"
    )


def main() -> None:
    asked = arguments(__doc__ or "", files=("page",), only="")
    trials = [trial for trial in TRIALS if asked.only in trial.name][: 1 if asked.small else None]
    if asked.small and not asked.only:
        trials = [trial for trial in TRIALS if trial.name == "mariadb flush"]
    found, tables = {}, []
    with tempfile.TemporaryDirectory(prefix="tare-tuning-") as folder:
        for trial in trials:
            found[trial.name] = measured(trial, folder, small=asked.small)
            tables.append(table(trial, found[trial.name]))
            print(tables[-1], flush=True, file=sys.stderr if asked.json else sys.stdout)
    if asked.page:
        write(asked.page, tables)
    report(list(figures(found)), asked.json)


if __name__ == "__main__":
    main()
