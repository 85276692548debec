"""`tare compare OLD.json NEW.json`, `o1 o2`, `p1 p2`: two results, without a database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from tare.cli.given import given
from tare.cli.option_groups import Outputs
from tare.errors import UsageError
from tare.lab.ids import IdKind, kind_of

_ALLOWED_BY_FILES = {"sql", "measure", "margin", "verbose", "html", "markdown", "json"}
_ALLOWED_BY_IDS = {"sql", "lab", "profiles", "html", "markdown", "json"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two results in the place of statements: files of `tare time --json`, or ids of this kind."""

    a: str
    b: str
    kind: IdKind | None = None


def pair_of_results(statements: Sequence[str], files: Sequence[Path]) -> Pair | None:
    """Return the two results that are given in the place of statements; None where statements are given.

    Raises UsageError for a mixture, and for any number but two."""
    kinds = [_kind(text) for text in statements]
    results = [text for text, kind in zip(statements, kinds, strict=True) if kind is not None]
    if not results:
        return None
    if len(results) == len(statements) == 2 and not files and kinds[0] == kinds[1]:
        return Pair(results[0], results[1], kinds[0] if isinstance(kinds[0], IdKind) else None)
    others = len(statements) - len(results) + len(files)
    raise UsageError(
        f"{len(results)} results ({', '.join(results)}) and {others} queries are given: two results of one kind are "
        "compared, or two queries",
        "tare compare OLD.json NEW.json, with files that `tare time --json FILE` wrote; two transactional runs: o1 o2; "
        "two profiles: p1 p2",
    )


def _kind(text: str) -> IdKind | str | None:
    """Return the kind of an id that can be compared, "file" for a result of `tare time`; None: SQL."""
    if kind_of(text) in (IdKind.OLTP, IdKind.PROFILE):
        return kind_of(text)
    return "file" if _is_result(text) else None


def _is_result(text: str) -> bool:
    """A name that ends with .json: of a file that is there, or one that cannot be SQL."""
    if not text.endswith(".json"):
        return False
    with suppress(OSError):  # a name that is too long is none
        if Path(text).is_file():
            return True
    return re.search(r"\s", text) is None


def compare_ids(context: Any, pair: Pair, lab: str, profiles: Path, outputs: Outputs) -> None:
    """Compare two transactional runs of a lab, or two profiles of a folder."""
    _refuse_other_options(context, _ALLOWED_BY_IDS)
    given = _without_csv(outputs)
    if pair.kind is IdKind.OLTP:
        from tare.cli.bench_oltp_report import deliver_comparison

        deliver_comparison(pair.a, pair.b, lab, given)
    else:
        from tare.cli.profile_report import compared
        from tare.cli.profile_show import deliver_difference
        from tare.lab.profiles import open_run

        deliver_difference(compared(open_run(pair.a, profiles), open_run(pair.b, profiles)), given)


def compare_results(
    context: Any, pair: Pair, measure: str | None, margin: float | None, outputs: Outputs
) -> None:
    """Print and write the comparison. Exits with 1 if a query of both could not be compared."""
    from tare.cli.weighing import command_line
    from tare.report.kit.deliver import deliver
    from tare.report.two_results import build, story
    from tare.report.two_results.read import read_result

    _refuse_other_options(context, _ALLOWED_BY_FILES)
    old, new = (read_result(Path(file)) for file in (pair.a, pair.b))
    found = build.compare_results(old, new, (pair.a, pair.b), measure, command_line(), margin)
    deliver(
        story.story(found),
        found,
        _without_csv(outputs),
        always=True,
        printed=None if outputs.verbose else story.short(found),
    )
    if any(query.comparison is None for query in found.queries):
        raise typer.Exit(1)


def _without_csv(outputs: Outputs) -> dict[str, str | None]:
    return {name: target for name, target in outputs.given().items() if name != "csv"}


def _refuse_other_options(context: Any, allowed: set[str]) -> None:
    """Options of a run mean nothing here. Those of the environment (TARE_DB) may stay."""
    for name, spelling in given(context):
        if name not in allowed:
            raise UsageError(
                f"{spelling} does not go with results: nothing is weighed",
                "leave it out; give it to the command that makes them",
            )
