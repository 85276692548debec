"""Where a result goes: the terminal, files, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from tare.cli import INTERRUPTED
from tare.cli.weighing import Weighed
from tare.errors import TareError, UsageError
from tare.report.atomic import write
from tare.report.result import RunResult


@dataclass(frozen=True, slots=True)
class Outputs:
    """Destinations as they were given: a path, "-" for standard output, or None."""

    json: str | None
    markdown: str | None
    csv: str | None

    def check(self) -> None:
        """Said before weighing: two results on standard output, a folder that is not there."""
        given = [target for target in (self.json, self.markdown, self.csv) if target]
        if given.count("-") > 1:
            raise UsageError("only one of --json, --markdown, --csv can go to standard output", "give files for the rest")
        for target in given:
            parent = Path(target).parent
            if target != "-" and not parent.is_dir():
                raise UsageError(f"{target}: the folder {parent} is not there", f"make it first: mkdir -p {parent}")

    @property
    def quiet(self) -> bool:
        """Standard output is spoken for."""
        return "-" in (self.json, self.markdown, self.csv)


def deliver(weighed: Weighed, outputs: Outputs, text: Callable[[RunResult], None]) -> None:
    """Writes everything asked for, then ends with the exit code that fits.

    A destination that fails does not keep the others from being written.
    """
    from tare.report.csv import csv_text
    from tare.report.json import json_text
    from tare.report.markdown import markdown_text

    failures: list[TareError] = []
    if not outputs.quiet:
        text(weighed.result)
    exporters = ((outputs.json, json_text), (outputs.markdown, markdown_text), (outputs.csv, csv_text))
    for target, render in exporters:
        if target is None:
            continue
        try:
            if target == "-":
                sys.stdout.write(render(weighed.result))
                sys.stdout.flush()
            else:
                write(Path(target), render(weighed.result))
        except TareError as failure:
            failures.append(failure)
    for failure in failures:
        print(f"tare: {failure}", file=sys.stderr)
    if isinstance(weighed.stopped_by, KeyboardInterrupt):
        print("tare: interrupted: what was weighed so far is above; machine settings are as they were", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    if isinstance(weighed.stopped_by, TareError):
        print(f"tare: {weighed.stopped_by}", file=sys.stderr)
        raise typer.Exit(weighed.stopped_by.exit_code)
    if failures:
        raise typer.Exit(1)
    if any(query.outcome == "failed" for query in weighed.result.results):
        raise typer.Exit(1)
