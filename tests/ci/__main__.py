"""Runs the stages in order, tries again what may be noise, and ends with the summary."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from tests.ci import rust, summary
from tests.ci.journal import VARIABLE
from tests.ci.machine import Reading
from tests.ci.only import NothingSelected, narrowed
from tests.ci.stages import (
    ALONE,
    EXACT,
    LINT,
    PAIRED,
    RESULTS,
    ROOT,
    RUST,
    SERVERS,
    SMALL,
    WHOLE_S,
    Ending,
    Stage,
    run,
    tests_again,
)
from tests.ci.verdict import Line, Results, judge, read

STAGES = (LINT, RUST, EXACT, SERVERS, PAIRED, ALONE, SMALL)
NEEDED_GB = 10
TRIES = 2
MOST_AGAIN = 10
"""More failures than this have another cause than a busy machine, and are not tried again."""


class Run:
    """Stages that have ended, and what their tests report."""

    def __init__(self) -> None:
        self.began = Reading.now()
        self.endings: list[Ending] = []
        self.lines: dict[str, list[Line]] = {}

    def run(self, stage: Stage) -> list[Line]:
        """Run a stage within what is left of the whole time. Returns its tests' lines."""
        journal = RESULTS / f"{stage.name}.jsonl"
        journal.unlink(missing_ok=True)
        left_s = max(1.0, WHOLE_S - (time.monotonic() - self.began.at_s))
        self.endings.append(run(stage, min(stage.limit_s, left_s), {VARIABLE: str(journal)}))
        if stage.name.startswith("rust"):
            return list(rust.read((RESULTS / f"{stage.name}.log").read_text(errors="replace")))
        written = journal.read_text().splitlines() if journal.exists() else []
        return [json.loads(line) for line in written]

    def run_again(self) -> list[Results]:
        """Run failures that may be noise again, one at a time. Returns each repetition's tests."""
        tests = {name: read(lines) for name, lines in self.lines.items()}
        names = {one.test for each in tests.values() for one in each.failures if one.may_try_again}
        if not 0 < len(names) <= MOST_AGAIN:
            return []
        in_rust = [line for line in self.lines.get("rust", []) if line["id"] in names]
        in_python = sorted(names - {line["id"] for line in in_rust})
        repetitions = []
        for number in range(1, TRIES + 1):
            lines: list[Line] = []
            if in_rust:
                lines += self.run(rust.again(number, in_rust))
            if in_python:
                lines += self.run(tests_again(number, in_python))
            repetitions.append(read(lines))
        return repetitions


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ci", description=__doc__)
    names = [stage.name for stage in STAGES]
    parser.add_argument(
        "stages", nargs="*", metavar="STAGE", help=f"stages to run, of {', '.join(names)}; all"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="tests to run in these stages: a path, a glob, FILE::TEST, or a crate's folder",
    )
    request = parser.parse_args(arguments)
    if unknown := set(request.stages) - {*names}:
        parser.error(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    stages: Sequence[Stage] = [
        stage for stage in STAGES if not request.stages or stage.name in request.stages
    ]
    part = summary.Part(tuple(stage.name for stage in stages), tuple(request.only))
    if request.only:
        try:
            stages = narrowed(stages, request.only)
        except NothingSelected as error:
            parser.error(str(error))
    return run_stages(stages, part if request.stages or request.only else None)


def run_stages(stages: Sequence[Stage], part: summary.Part | None) -> int:
    """Run these stages and print the summary. Returns the exit code; `part` is None for a run of everything."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    free_gb = shutil.disk_usage(ROOT).free / 1e9
    if free_gb < NEEDED_GB:
        print(
            f"CI: RED. {free_gb:.0f} GB are free on the disk of {ROOT}, {NEEDED_GB} GB are needed: make room"
        )
        return 1
    # A run that was killed may have left a setting of the machine changed.
    subprocess.run((sys.executable, "-m", "tare", "doctor", "--restore"), cwd=ROOT, timeout=60, check=False)
    this = Run()
    for stage in stages:
        this.lines[stage.name] = this.run(stage)
        if stage.name == EXACT.name and this.endings[-1].code != 0:
            break  # a defect for certain
    judged = len(this.endings)
    again = this.run_again()
    results = {name: read(lines) for name, lines in this.lines.items()}
    verdict = judge(results, again, this.endings[:judged])
    pressure = Reading.now().pressure_since(this.began)
    facts: tuple[Any, ...] = (verdict, results, this.endings, pressure, part)
    (RESULTS / "summary.json").write_text(json.dumps(summary.document(*facts), indent=1) + "\n")
    print("", *summary.lines(*facts), sep="\n", flush=True)
    return 0 if verdict.is_green else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
