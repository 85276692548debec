"""Where a result goes: the terminal, files, and the exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from tare.cli import destinations
from tare.cli.weighing import Weighed
from tare.errors import TareError
from tare.interruption import exit_code_of
from tare.report.result import RunResult


@dataclass(frozen=True, slots=True)
class Outputs:
    """Destinations as they were given: a path, "-" for standard output, or None."""

    json: str | None
    markdown: str | None
    csv: str | None

    def check(self) -> None:
        """Said before weighing: two results in one place, and a place that cannot be written."""
        destinations.check({"json": self.json, "markdown": self.markdown, "csv": self.csv})

    def given(self) -> dict[str, str]:
        """Destinations by the name of their exporter."""
        named = {"json": self.json, "markdown": self.markdown, "csv": self.csv}
        return {name: target for name, target in named.items() if target}

    @property
    def quiet(self) -> bool:
        """Standard output is spoken for."""
        return "-" in self.given().values()


def deliver(weighed: Weighed, outputs: Outputs) -> None:
    """Writes everything asked for, then ends with the exit code that fits.

    A destination that fails does not keep the others from being written: files come first, since
    standard output may be a pipe whose reader has gone. Raises BrokenPipeError then.
    """
    from tare.report.exporter import export

    failures: list[TareError] = []
    for name, target in outputs.given().items():
        try:
            if target != "-":
                export(weighed.result, name, Path(target))
        except TareError as error:
            failures.append(error)
    try:
        _print(weighed.result, outputs)
    except TareError as error:
        failures.append(error)
    for failure in failures:
        print(f"tare: {failure}", file=sys.stderr)
    if isinstance(weighed.stopped_by, KeyboardInterrupt):
        print(
            "tare: interrupted: what was weighed so far was kept; machine settings are as they were",
            file=sys.stderr,
        )
        raise typer.Exit(exit_code_of(weighed.stopped_by))
    if isinstance(weighed.stopped_by, TareError):
        print(f"tare: {weighed.stopped_by}", file=sys.stderr)
        raise typer.Exit(weighed.stopped_by.exit_code)
    if failures:
        raise typer.Exit(1)
    if any(query.outcome == "failed" for query in weighed.result.results):
        raise typer.Exit(1)


def _print(result: RunResult, outputs: Outputs) -> None:
    """The report, or the one result that goes to standard output instead."""
    from rich.console import Console

    from tare.report.exporter import EXPORTERS
    from tare.report.text import print_report

    name = next((name for name, target in outputs.given().items() if target == "-"), None)
    if name is None:
        print_report(result, Console())
    else:
        sys.stdout.write(EXPORTERS[name](result))
