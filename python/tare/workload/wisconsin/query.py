"""A query of the benchmark: its question, its organisation, and its place in the papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.workload.wisconsin.kinds import Generation, Organisation


class Class(StrEnum):
    """The paper's classes (1983, section 3.2)."""

    SELECTION = "selection"
    JOIN = "join"
    PROJECTION = "projection"
    AGGREGATE = "aggregate"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Variant:
    """A form of a query, one of ten: other constants, and the other of two relations that are alike."""

    sql: str  # standard SQL that all four DBMSes take
    rows: int  # that it gives, or changes, by its definition
    into: str | None = None  # the result relation it fills, empty before; None: the rows go to the client
    defined: Sequence[Sequence[object]] | None = (
        None  # the answer itself, where the definition tells it (aggregates)
    )
    setup: Sequence[str] = ()  # what must be there before, and is not in the relations as loaded
    guest: str | None = None  # the condition that tells what `setup` put there from the relation's own tuples
    undo: Sequence[str] = ()  # puts back what it or `setup` changed; does no harm if nothing was changed
    changes: str | None = None  # the relation that it changes


@dataclass(frozen=True, slots=True)
class WisconsinQuery:
    name: str  # unique within its generation: `select_1pct_clustered`, `q12`
    generation: Generation
    klass: Class
    organisation: Organisation
    operation: str  # what it does, alike in every organisation: `select_1pct`, `joinAselB`, `min_scalar`, …
    title: str  # for a reader: "1% of the tuples, range on unique2, into a relation"
    attribute: str | None  # by which it finds or joins tuples; None: by none
    number: int | None = None  # 1993: of the 32
    published: tuple[int, str] | None = None  # 1983: table and column of the paper, see `published.py`
    variants: Callable[[int], Sequence[Variant]] = (
        lambda rows: ()
    )  # where the large relations have so many tuples
