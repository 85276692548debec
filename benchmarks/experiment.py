"""A real experiment, from its specification to its report: what share of the Q@Cs is kept, how precise the times are.

TTPv2 kept 96% of its Q@Cs and its calculated times had a relative error of 2.1% (Table XVII, §10).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report

SPECIFICATION = Path(__file__).parent.parent / "examples" / "two_dbmses.toml"
SMALL = {
    "cardinality = 100000": "cardinality = 20000",
    "step = 15000": "step = 10000",
    "minimum = 40000": "minimum = 10000",
    "cardinality = 60000": "cardinality = 10000",
    "count = 20": "count = 3",
    "qes = 10": "qes = 6",
}
OUTPUTS = Path("target")  # of the full run: the report as it came out
PAPER_RETAINED, PAPER_ERROR = 96.0, 2.1  # percent


def tare(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tare", *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"tare {arguments[0]} {arguments[1]} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> None:
    asked = arguments(__doc__ or "")
    text = SPECIFICATION.read_text()
    if asked.small:
        for full, small in SMALL.items():
            text = text.replace(full, small)
    with tempfile.TemporaryDirectory(prefix="tare-experiment-") as folder:
        lab, specification = Path(folder) / "lab.db", Path(folder) / "experiment.toml"
        specification.write_text(text)
        Path(folder).chmod(0o755)  # root's servers run as an ordinary user
        began = time.monotonic()
        tare("experiment", "run", specification, "--lab", lab)
        took = time.monotonic() - began
        runs = [str(run["id"]) for run in json.loads(tare("experiment", "list", "--lab", lab, "--json"))]
        outcomes = json.loads(
            tare("protocol", *runs, "--protocol", "all", "--accept", "all", "--lab", lab, "--json")
        )
        page = Path("two_dbmses.html") if not asked.small else Path(folder) / "report.html"
        tare("report", *runs, "--lab", lab, "--html", page)
        tare("lab", "verify", *runs, "--lab", lab)
        report([*figures(outcomes), Figure("the whole experiment", took, "s", float("inf"))], asked.json)
        print(f"report: {page}, {page.stat().st_size / 1e6:.2f} MB")


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
