"""Delivery of a result: the terminal, files, and the exit code."""

from __future__ import annotations

import sys

import typer

from tare.cli.option_groups import Outputs
from tare.cli.weighing import Weighed
from tare.errors import TareError
from tare.interruption import exit_code_of
from tare.report.result import QueryResult


def deliver(weighed: Weighed, outputs: Outputs) -> None:
    """Prints and writes the result, then ends with the exit code that fits.

    Raises BrokenPipeError where the reader of standard output has gone."""
    from tare.report import csv
    from tare.report.kit.deliver import deliver as deliver_forms
    from tare.report.time import short
    from tare.report.time.story import story

    result = weighed.result
    failure: TareError | None = None
    stopped_by = weighed.stopped_by
    # What stopped a run without a single time is all there is to print; files are written in any case.
    prints = not isinstance(stopped_by, TareError) or any(one.outcome != "failed" for one in result.results)
    try:
        if prints or any(outputs.given().values()):
            deliver_forms(
                story(result),
                result,
                outputs.given(),
                more={"csv": lambda: csv.render(result)},
                always=prints,
                printed=None if outputs.verbose else short.story(result),
            )
    except TareError as error:
        failure = error
        print(f"tare: {error}", file=sys.stderr)
    if isinstance(stopped_by, KeyboardInterrupt):
        print(
            "tare: interrupted: what was weighed so far was kept; machine settings are as they were",
            file=sys.stderr,
        )
        raise typer.Exit(exit_code_of(stopped_by))
    if isinstance(stopped_by, TareError):
        if prints and not outputs.quiet and sys.stdout.isatty() and sys.stderr.isatty():
            stopped_by = stopped_by.without_cause("the run ended early, as reported above")
        print(f"tare: {stopped_by}", file=sys.stderr)
        raise typer.Exit(stopped_by.exit_code)
    if failure is not None or any(map(_is_bad, result.results)):
        raise typer.Exit(1)


def _is_bad(query: QueryResult) -> bool:
    is_wrong = query.answer.reference_difference is not None
    return query.outcome == "failed" or query.error is not None or is_wrong
