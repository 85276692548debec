"""A real experiment, from its specification to its report: what share of the Q@Cs is kept, how precise the times are.

TTPv2 kept 96% of its Q@Cs and its calculated times had a relative error of 2.1% (Table XVII, §10).
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report, tare

EXAMPLES = Path(__file__).parent.parent / "examples"
SPECIFICATIONS = ("twenty_postgresql.toml", "twenty_mariadb.toml")
SMALL = (
    (r"(?m)^cardinality = \d{4}$", "cardinality = 500"),
    (r"(?m)^cardinality = \d{5,}$", "cardinality = 10000"),
    (r"(?m)^step = .*$", "step = 10000"),
    (r"(?m)^minimum = .*$", "minimum = 10000"),
    (r"(?m)^count = .*$", "count = 3"),
    (r"(?m)^qes = .*$", "qes = 6"),
)
OUTPUTS = Path("target")  # of the full run: the report as it came out
PAPER_RETAINED, PAPER_ERROR = 96.0, 2.1  # percent


def main() -> None:
    asked = arguments(__doc__ or "")
    with tempfile.TemporaryDirectory(prefix="tare-experiment-") as folder:
        lab = Path(folder) / "lab.db"
        Path(folder).chmod(0o755)  # root's servers run as an ordinary user
        began = time.monotonic()
        for name in SPECIFICATIONS[:1] if asked.small else SPECIFICATIONS:
            specification = Path(folder) / name
            specification.write_text(text_of(name, asked.small))
            tare("experiment", "run", specification, "--lab", lab)
        took = time.monotonic() - began
        listed = json.loads(tare("lab", "list", "--lab", lab, "--json"))["runs"]
        runs = [str(run["run"]) for run in listed]
        judged = json.loads(
            tare("protocol", *runs, "--protocol", "all", "--accept", "all", "--lab", lab, "--json")
        )["protocols"]
        accepted = [
            word
            for name in sorted({name for one in judged for name in violated(one)})
            for word in ("--accept", name)
        ]
        page = (Path(folder) if asked.small else OUTPUTS) / "experiment.html"
        tare("report", *runs, "--lab", lab, *accepted, "--html", page, "--markdown", page.with_suffix(".md"))
        tare("lab", "verify", *runs, "--lab", lab)
        qes = sum(run["qes"] for run in listed)
        whole = Figure("the experiments", took, "s", float("inf"), spread=f"{qes} QEs")
        report([*figures(judged), whole], asked.json)
        print(f"report: {page}, {page.stat().st_size / 1e6:.2f} MB")


def text_of(name: str, small: bool) -> str:
    text = (EXAMPLES / name).read_text()
    for pattern, instead in SMALL if small else ():
        text = re.sub(pattern, instead, text)
    return text


def violated(outcome: dict[str, Any]) -> list[str]:
    """Experiment-wide checks to accept as deviations, which the report then lists."""
    return [c["name"] for c in outcome["checks"] if c["level"] == "experiment" and c["violations"]]


def figures(outcomes: list[dict[str, Any]]) -> list[Figure]:
    made = []
    for outcome in outcomes:
        name, precision = outcome["protocol"], outcome["precision"]
        made.append(
            Figure(
                f"{name}: retained Q@Cs",
                100 * precision["retained_qatcs"],
                "%",
                PAPER_RETAINED,
                at_most=False,
            )
        )
        if (error := precision["relative_error_calculated"]) is not None:
            made.append(Figure(f"{name}: relative error of the time", 100 * error, "%", PAPER_ERROR))
    return made


if __name__ == "__main__":
    main()
