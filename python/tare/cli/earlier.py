"""`tare compare OLD.json NEW.json`: two earlier results, without a DBMS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cli.output import Outputs


def results_of(words: Sequence[str] | None) -> tuple[Path, Path] | None:
    """The two files, if the words name such; None for SQL. Raises UsageError for a number of files other than two."""
    names = [Path(word) for word in words or () if word.endswith(".json")]
    if not names or len(names) < len(words or ()):
        return None
    if len(names) != 2:
        raise UsageError(
            f"{len(names)} results given, but a comparison needs two", "give OLD.json and NEW.json"
        )
    return names[0], names[1]


def deliver_earlier(files: tuple[Path, Path], about: str | None, outputs: Outputs, *, verbose: bool) -> None:
    """Prints and writes the comparison of each query that both files have."""
    from tare.cli.output import more_forms
    from tare.cli.weighing import command_line
    from tare.report.comparison import COMPARED
    from tare.report.earlier import compare_earlier, read_result
    from tare.report.kit.deliver import deliver
    from tare.report.time.short import short
    from tare.report.time.story import story

    if about is not None and about not in COMPARED:
        raise UsageError(
            f"--measure {about}: not a measure that can be compared", f"give one of {', '.join(COMPARED)}"
        )
    old, new = map(read_result, files)
    found = compare_earlier(old, new, (files[0].stem, files[1].stem), about, command_line())
    if len(found) > 1 and any(outputs.given().values()):
        raise UsageError(
            f"the results have {len(found)} queries in common, and a file holds the comparison of one",
            "leave the files out, or weigh one query a result",
        )
    for place, one in enumerate(found):
        if place:
            print()
        deliver(
            story(one),
            one,
            outputs.given(),
            more=more_forms(one),
            always=True,
            short=None if verbose else partial(short, one),
        )
