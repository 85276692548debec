"""Delivery of a result: to the terminal, to files, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import typer

from tare.cli import destinations
from tare.cli.weighing import Weighed
from tare.errors import TareError, UsageError
from tare.interruption import exit_code_of
from tare.meant import meant

if TYPE_CHECKING:
    from tare.report.result import RunResult


@dataclass(frozen=True, slots=True)
class Outputs:
    """Destinations from the command line: a path, "-" for standard output, or None."""

    html: str | None
    markdown: str | None
    json: str | None
    csv: str | None
    formats: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raises UsageError for two results in one place, and for a place that cannot be written."""
        destinations.check(self.given())

    def given(self) -> dict[str, str | None]:
        """Destinations by the name of their form."""
        forms = {"html": self.html, "markdown": self.markdown, "json": self.json, "csv": self.csv}
        return {**forms, **self.formats}

    @property
    def quiet(self) -> bool:
        """Whether standard output carries a result."""
        return "-" in self.given().values()


def parse_formats(texts: Sequence[str] | None) -> dict[str, str]:
    """Destinations by format, from --format NAME or NAME=FILE. Raises UsageError."""
    from tare.report.ci.formats import FORMATS

    formats = {}
    for text in texts or ():
        name, _, file = text.partition("=")
        if name not in FORMATS:
            raise UsageError(
                f"--format {text}: no such format", meant(name, FORMATS, f"give one of {', '.join(FORMATS)}")
            )
        formats[name] = file or "-"
    return formats


def more_forms(result: RunResult) -> dict[str, Callable[[], str]]:
    """Forms that only results of queries have."""
    from tare.report import csv
    from tare.report.ci.formats import FORMATS

    return {
        "csv": partial(csv.render, result),
        **{name: partial(render, result) for name, render in FORMATS.items()},
    }


def deliver(weighed: Weighed, outputs: Outputs, *, verbose: bool) -> None:
    """Prints and writes the result, the short form unless `verbose`, then ends with the exit code that fits.

    Raises BrokenPipeError where the reader of standard output has gone."""
    from tare.report.kit.deliver import deliver as deliver_forms
    from tare.report.time.short import short
    from tare.report.time.story import story

    result = weighed.result
    failure: TareError | None = None
    try:
        deliver_forms(
            story(result),
            result,
            outputs.given(),
            more=more_forms(result),
            always=True,
            short=None if verbose else partial(short, result),
        )
    except TareError as error:
        failure = error
        print(f"tare: {error}", file=sys.stderr)
    if isinstance(weighed.stopped_by, KeyboardInterrupt):
        print(
            "tare: interrupted: the measurements so far are kept; machine settings are as they were",
            file=sys.stderr,
        )
        raise typer.Exit(exit_code_of(weighed.stopped_by))
    if isinstance(weighed.stopped_by, TareError):
        print(f"tare: {weighed.stopped_by}", file=sys.stderr)
        raise typer.Exit(weighed.stopped_by.exit_code)
    if failure is not None or any(
        query.outcome == "failed" or query.error for query in weighed.result.results
    ):
        raise typer.Exit(1)
