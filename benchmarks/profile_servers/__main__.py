"""Does `tare profile attach` harm a server? Everything that clients do to servers goes on while each is watched.

PostgreSQL 18 and 15, MariaDB and MySQL 5.6 under TPC-C, programs with DuckDB and SQLite in their process, a Java
virtual machine, Redis and nginx. A second client's statements fail, are cancelled and run out of memory, its
connections are ended and its process is killed; some of the load's own statements and connections are ended too. `tare
profile attach` watches for
60 s with automatic refinement. Then the server has to be the same process, its log without a crash, its code without
a probe, and its data without a contradiction. `--moments 1` attaches at bad moments: while the server starts, twice at
once, and with an end of Tare or of the server in mid-run.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Figure, arguments, report
from benchmarks.page import put, table
from benchmarks.profile_servers import harm
from benchmarks.profile_servers.moments import Moment, moments
from benchmarks.profile_servers.subjects import SUBJECTS, Ends, Missing, Subject, new_folder
from tare.cli.profile_request import share
from tare.errors import TareError
from tare.protocol.signed_ranks import interval

NOT_IN_TIME_S = 120.0
BEYOND = 2.0
"""Points of throughput that may be lost beyond the budget, by the clients' count."""

BLOCK_S = 5

REFUSED = 2
"""Exit code of Tare where a transaction's markers alone take more than the budget allows while they are on."""

SECOND = 1_000_000_000
MOMENTS_FOR = ("postgresql-18", "mariadb")


@dataclass(frozen=True)
class Pace:
    """Transactions a second and the longest time in which none ended, of one phase."""

    rate: float
    low: float
    high: float
    standstill_ms: float
    error: float = math.nan  # standard error of the rate, as a share of it

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({self.low:,.0f}–{self.high:,.0f})"
        return f"{self.rate:,.0f}{interval}"


@dataclass(frozen=True)
class Outcome:
    name: str
    alive: bool
    same_process: bool
    exit_code: int | None
    headline: str
    transactions: int  # that Tare saw
    rounds: int
    functions: int  # that were watched, in all rounds
    failures: int  # of clients, as they were meant
    surprises: tuple[str, ...]
    wrong: tuple[str, ...]
    crashes: tuple[str, ...]  # lines of the log
    kernel: tuple[str, ...]  # lines
    breakpoints: int
    allowed: float  # share of the throughput, over the whole profile
    told: float | None  # of it, lost by Tare's own word; None: not measured
    before: Pace
    during: Pace
    after: Pace

    @property
    def lost(self) -> float:
        """Share of the throughput that was lost while Tare was there, analysis included, by the clients' own count."""
        return 1 - self.during.rate / ((self.before.rate + self.after.rate) / 2)

    @property
    def error(self) -> float:
        """Half of the 95% interval of `lost`."""
        around = math.hypot(self.before.error, self.after.error) / 2
        return 1.96 * (1 - self.lost) * math.hypot(self.during.error, around)

    @property
    def is_unharmed(self) -> bool:
        return (
            self.alive
            and self.same_process
            and self.exit_code in (0, REFUSED)
            and not (self.surprises or self.wrong or self.crashes or self.breakpoints)
        )


def measure(subject: Subject, seconds: int, around_s: int, budget: str) -> Outcome:
    subject.start()
    try:
        pid, logged = subject.pid, subject.log.stat().st_size if subject.log.exists() else 0
        kernel = harm.kernel_lines()
        subject.begin()
        time.sleep(around_s / 3)
        instants = [time.monotonic_ns()]
        time.sleep(around_s)
        instants.append(time.monotonic_ns())
        code, document = attach(subject, seconds, budget)
        instants.append(time.monotonic_ns())
        time.sleep(around_s)
        instants.append(time.monotonic_ns())
        alive = subject.is_alive
        left = harm.probes_in(pid) if alive else 0
        same = alive and subject.pid == pid
        ends = subject.end()
        wrong = subject.wrong() if alive else ["the server has ended"]
        paces = [pace(ends, begin, end) for begin, end in pairwise(instants)]
        return Outcome(
            name=subject.name,
            alive=alive,
            same_process=same,
            exit_code=code,
            headline=" ".join(document.get("headline", ())),
            transactions=int(document.get("transactions", 0)),
            rounds=len(document.get("rounds", ())),
            functions=len({name for one in document.get("rounds", ()) for name in one["added"]}),
            failures=sum(count for what, count in subject.counts.items() if what != "unexpected"),
            surprises=tuple(subject.surprises),
            wrong=tuple(wrong),
            crashes=tuple(harm.crash_lines(subject.log, logged)),
            kernel=tuple(harm.new_kernel_lines(kernel)),
            breakpoints=left,
            allowed=share(budget, "--budget"),
            told=told_loss(document),
            before=paces[0],
            during=paces[1],
            after=paces[2],
        )
    finally:
        subject.give_up()
        subject.stop()


def told_loss(document: dict[str, Any]) -> float | None:
    loss = (document.get("overhead") or {}).get("loss") or {}
    average = loss.get("average")
    return None if average is None else float(average["value"])


def attach(subject: Subject, seconds: int, budget: str) -> tuple[int | None, dict[str, Any]]:
    """Exit code of Tare, None where it did not end in time, and its report."""
    document = subject.folder / "profile.json"
    words = (*subject.words, "--duration", f"{seconds}s", "--rounds", "50", "--budget", budget)
    kept = ("--out", str(subject.folder / "profiles"), "--json", str(document))
    command = [sys.executable, "-m", "tare", "profile", "attach", *words, *kept]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + NOT_IN_TIME_S, check=False
        )
        code: int | None = done.returncode
        if code:
            print(done.stdout[-1500:], done.stderr[-1500:], file=sys.stderr, flush=True)
    except subprocess.TimeoutExpired:
        code = None
    return code, json.loads(document.read_text()) if document.exists() else {}


def pace(ends: Ends, begin: int, end: int) -> Pace:
    """Rates of whole seconds. Neighbouring seconds are alike, so the error is that of means over BLOCK_S."""
    within = ends[(ends >= begin) & (ends < end)]
    seconds = max(1, (end - begin) // SECOND)
    rates = np.histogram(within, bins=seconds, range=(begin, begin + seconds * SECOND))[0].astype(float)
    sure = interval(rates)
    gaps = np.diff(np.concatenate(([begin], within, [end])))
    low, high = (sure.low, sure.high) if sure else (math.nan, math.nan)
    blocks = rates[: len(rates) // BLOCK_S * BLOCK_S].reshape(-1, BLOCK_S).mean(axis=1)
    error = blocks.std(ddof=1) / blocks.mean() / math.sqrt(len(blocks)) if len(blocks) > 1 else math.nan
    return Pace(len(within) / seconds, low, high, float(gaps.max()) / 1e6, float(error))


HEADER = (
    *(
        "server",
        "unharmed",
        "exit code",
        "rounds",
        "functions",
        "failures of clients",
        "transactions/s before",
    ),
    *("while", "after", "throughput lost, by the clients' count", "by Tare's", "allowed"),
    *("longest standstill, ms: before", "while", "after"),
)


def line(one: Outcome) -> tuple[str, ...]:
    stills = (f"{phase.standstill_ms:,.0f}" for phase in (one.before, one.during, one.after))
    return (
        one.name,
        "yes" if one.is_unharmed else "**no**",
        {None: "none in time", REFUSED: "2, refused"}.get(one.exit_code, str(one.exit_code)),
        str(one.rounds),
        str(one.functions),
        f"{one.failures:,}",
        *(str(phase) for phase in (one.before, one.during, one.after)),
        "–" if one.exit_code == REFUSED else f"{one.lost:.1%} (±{100 * one.error:.1f})",
        "not measured" if one.told is None else f"{one.told:.1%}",
        f"{one.allowed:.0%}",
        *stills,
    )


def figures(outcomes: Sequence[Outcome], at_moments: Sequence[Moment]) -> Iterator[Figure]:
    if outcomes:
        unharmed = sum(one.is_unharmed for one in outcomes)
        yield Figure("servers unharmed", unharmed, f"of {len(outcomes)}", len(outcomes), at_most=False)
        still = max(one.during.standstill_ms for one in outcomes)
        yield Figure("longest standstill while watched", still, "ms", math.inf)
        for one in outcomes:
            change = 100 * (one.after.rate / one.before.rate - 1)
            yield Figure(f"{one.name}: transactions/s after against before", change, "%", math.inf)
            if one.exit_code == REFUSED:
                continue
            beyond = 100 * (one.lost - one.allowed)
            yield Figure(
                f"{one.name}: throughput lost beyond the budget",
                beyond,
                "points",
                BEYOND,
                spread=f"95% interval ±{100 * one.error:.1f}",
            )
    if at_moments:
        right = sum(one.is_right for one in at_moments)
        yield Figure("bad moments survived", right, f"of {len(at_moments)}", len(at_moments), at_most=False)


def page(outcomes: Sequence[Outcome], at_moments: Sequence[Moment]) -> str:
    parts = []
    if outcomes:
        parts.append(table(HEADER, [line(one) for one in outcomes]))
    if at_moments:
        rows = [(one.server, one.name, "yes" if one.is_right else "**no**", one.says) for one in at_moments]
        parts.append(table(("server", "moment", "as it has to be", "what happened"), rows))
    return "\n\n".join(parts)


def explain(one: Outcome) -> Iterator[str]:
    for what, lines in (
        ("otherwise than meant", one.surprises),
        ("the data", one.wrong),
        ("the log", one.crashes),
        ("the kernel", one.kernel),
    ):
        for text in lines:
            yield f"{one.name}: {what}: {text}"
    if one.breakpoints:
        yield f"{one.name}: {one.breakpoints} probes are still in its code"
    yield f"{one.name}: {one.headline}"


def main() -> None:
    asked = arguments(
        __doc__ or "",
        files=("markdown", "results"),
        seconds=60,
        around=30,
        budget="20%",
        servers="",
        moments=0,
    )
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_servers")
    names = [name for name in asked.servers.split(",") if name] or list(SUBJECTS)
    unknown = set(names) - set(SUBJECTS)
    if unknown:
        raise SystemExit(f"no server is named {', '.join(sorted(unknown))}; servers: {', '.join(SUBJECTS)}")
    seconds, around_s = (6, 3) if asked.small else (asked.seconds, asked.around)
    outcomes: list[Outcome] = []
    at_moments: list[Moment] = []
    for name in names:
        try:
            with new_folder() as folder:
                if asked.moments:
                    if name in MOMENTS_FOR:
                        at_moments += moments(SUBJECTS[name](Path(folder)))
                    continue
                outcomes.append(measure(SUBJECTS[name](Path(folder)), seconds, around_s, asked.budget))
        except (Missing, TareError) as error:
            print(f"NOT MEASURED: {name}: {error}", file=sys.stderr, flush=True)
            continue
        for text in explain(outcomes[-1]):
            print(text, file=sys.stderr, flush=True)
    if asked.results:
        kept = (
            json.loads(asked.results.read_text())
            if asked.results.exists()
            else {"servers": [], "moments": []}
        )
        outcomes = merged([outcome_of(one) for one in kept["servers"]], outcomes)
        at_moments = at_moments or [Moment(**one) for one in kept["moments"]]
        kept = {"servers": [asdict(one) for one in outcomes], "moments": [asdict(one) for one in at_moments]}
        asked.results.write_text(json.dumps(kept, indent=1))
    made = page(outcomes, at_moments)
    if asked.markdown:
        put(asked.markdown, made)
    if not asked.json:
        print(made, end="\n\n")
    report(list(figures(outcomes, at_moments)), asked.json)


def merged(before: Sequence[Outcome], now: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes of several calls; a server's last with a budget counts."""
    return list({(one.name, one.allowed): one for one in (*before, *now)}.values())


def outcome_of(kept: dict[str, Any]) -> Outcome:
    """Result that was kept as JSON."""
    phases = {name: Pace(**kept.pop(name)) for name in ("before", "during", "after")}
    lists = {name: tuple(value) for name, value in kept.items() if isinstance(value, list)}
    return Outcome(**{"allowed": math.nan, "told": None, **kept, **lists, **phases})


if __name__ == "__main__":
    main()
