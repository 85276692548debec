"""`tare compare OLD.json NEW.json`: two results of `tare time`, without a database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from tare.cli.given import given
from tare.cli.option_groups import Outputs
from tare.errors import UsageError

_ALLOWED = {"sql", "measure", "margin", "verbose", "html", "markdown", "json"}


def result_files(statements: Sequence[str], files: Sequence[Path]) -> tuple[Path, Path] | None:
    """Return the two results that are given in the place of statements; None where statements are given.

    Raises UsageError for a mixture, and for any number but two."""
    results = [Path(text) for text in statements if _is_result(text)]
    if not results:
        return None
    if len(results) == len(statements) == 2 and not files:
        return results[0], results[1]
    others = len(statements) - len(results) + len(files)
    raise UsageError(
        f"{len(results)} results (.json) and {others} queries are given: two results are compared, or two queries",
        "tare compare OLD.json NEW.json, with files that `tare time --json FILE` wrote",
    )


def _is_result(text: str) -> bool:
    """A name that ends with .json: of a file that is there, or one that cannot be SQL."""
    if not text.endswith(".json"):
        return False
    with suppress(OSError):  # a name that is too long is none
        if Path(text).is_file():
            return True
    return re.search(r"\s", text) is None


def compare_results(
    context: Any, files: tuple[Path, Path], measure: str | None, margin: float | None, outputs: Outputs
) -> None:
    """Print and write the comparison. Exits with 1 if a query of both could not be compared."""
    from tare.cli.weighing import command_line
    from tare.report.kit.deliver import deliver
    from tare.report.two_results import build, story
    from tare.report.two_results.read import read_result

    _refuse_other_options(context)
    old, new = (read_result(file) for file in files)
    names = (str(files[0]), str(files[1]))
    found = build.compare_results(old, new, names, measure, command_line(), margin)
    deliver(
        story.story(found),
        found,
        {name: target for name, target in outputs.given().items() if name != "csv"},
        always=True,
        printed=None if outputs.verbose else story.short(found),
    )
    if any(query.comparison is None for query in found.queries):
        raise typer.Exit(1)


def _refuse_other_options(context: Any) -> None:
    """Options of a run mean nothing here. Those of the environment (TARE_DB) may stay."""
    for name, spelling in given(context):
        if name not in _ALLOWED:
            raise UsageError(
                f"{spelling} does not go with results: nothing is weighed",
                "leave it out; give it to `tare time` when it weighs",
            )
