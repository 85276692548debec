"""Where a result goes: the terminal, files, and the exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from tare.cli import INTERRUPTED
from tare.cli.weighing import Weighed
from tare.errors import TareError, UsageError


@dataclass(frozen=True, slots=True)
class Outputs:
    """Destinations as they were given: a path, "-" for standard output, or None."""

    json: str | None
    markdown: str | None
    csv: str | None

    def check(self) -> None:
        """Said before weighing: two results on standard output, a folder that is not there."""
        given = list(self.given().values())
        if given.count("-") > 1:
            raise UsageError(
                "only one of --json, --markdown, --csv can go to standard output", "give files for the rest"
            )
        for target in given:
            parent = Path(target).parent
            if target != "-" and not parent.is_dir():
                raise UsageError(
                    f"{target}: the folder {parent} is not there", f"make it first: mkdir -p {parent}"
                )

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

    A destination that fails does not keep the others from being written.
    """
    from rich.console import Console

    from tare.report.exporter import EXPORTERS, export
    from tare.report.text import print_report

    failures: list[TareError] = []
    if not outputs.quiet:
        print_report(weighed.result, Console())
    for name, target in outputs.given().items():
        try:
            if target == "-":
                sys.stdout.write(EXPORTERS[name](weighed.result))
                sys.stdout.flush()
            else:
                export(weighed.result, name, Path(target))
        except TareError as error:
            failures.append(error)
    for failure in failures:
        print(f"tare: {failure}", file=sys.stderr)
    if isinstance(weighed.stopped_by, KeyboardInterrupt):
        print(
            "tare: interrupted: what was weighed so far is above; machine settings are as they were",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED)
    if isinstance(weighed.stopped_by, TareError):
        print(f"tare: {weighed.stopped_by}", file=sys.stderr)
        raise typer.Exit(weighed.stopped_by.exit_code)
    if failures:
        raise typer.Exit(1)
    if any(query.outcome == "failed" for query in weighed.result.results):
        raise typer.Exit(1)
