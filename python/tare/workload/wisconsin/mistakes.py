"""Mistakes in `[wisconsin]`, beyond each key's own type."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from tare.workload.wisconsin.catalogue import chosen, names
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.specification import WisconsinSpec

ROWS_1983 = 10_000

Placed = tuple[tuple[str | int, ...], str]


def wisconsin_mistakes(asked: WisconsinSpec) -> Iterator[Placed]:
    """Each with its place within `[wisconsin]`."""
    if asked.generation is Generation.Y1983 and set(asked.rows) != {ROWS_1983}:
        yield (
            ("rows",),
            f"the relations of 1983 have {ROWS_1983:,} tuples and no other number (its strings tell 10,648 apart): "
            'leave `rows` out, or take generation = "1993"',
        )
    known = names(asked.generation)
    if set(asked.queries) <= set(known) and not chosen(asked):
        yield (
            ("organisations",),
            f"no query of the {asked.generation} benchmark is left: none of those asked for has an organisation "
            f"among {', '.join(asked.organisations)}",
        )
    for place, name in enumerate(asked.queries):
        if name not in known:
            close = get_close_matches(name, known, n=1)
            yield (
                ("queries", place),
                f'the {asked.generation} benchmark has no query or class "{name}"'
                + (f"; did you mean `{close[0]}`?" if close else f"; it has {', '.join(known)}"),
            )
