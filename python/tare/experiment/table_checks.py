"""Rules within a table of a specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from tare.experiment.explain import Finding
from tare.experiment.places import Path
from tare.experiment.reserved import is_reserved
from tare.experiment.specification import LEAST, MOST, TableSpec

PREFIX = "tare_"


def table_mistakes(number: int, table: TableSpec) -> Iterator[Finding]:
    here: Path = ("tables", number)
    names = [column.name for column in table.columns]
    yield from _name((*here, "name"), table.name)
    for place, column in enumerate(table.columns):
        at = (*here, "columns", place)
        yield from _name((*at, "name"), column.name)
        if column.name == table.primary_key:
            if column.model_fields_set & {"low", "high"}:
                yield (
                    at,
                    f"column {column.name} is the primary key and counts 1, 2, 3, …: leave out low and high",
                )
            continue
        high = table.cardinality if column.high is None else column.high
        if column.low > high:
            yield at, f"column {column.name} has no values: low is {column.low:,} and high is {high:,}"
        for key, value in (("low", column.low), ("high", high)):
            if not LEAST <= value <= MOST and key in column.model_fields_set:
                yield (
                    (*at, key),
                    f"`{key}` of column {column.name} does not fit an SQL INTEGER ({LEAST:,} … {MOST:,})",
                )
    yield from twice((*here, "columns"), list(enumerate(names)), "column")
    if table.primary_key is not None and table.primary_key not in names:
        close = get_close_matches(table.primary_key, names, n=1, cutoff=0.0)
        yield (
            (*here, "primary_key"),
            f"the primary key {table.primary_key} is no column of {table.name}; its columns are {', '.join(names)}"
            + (f"; did you mean `{close[0]}`?" if len(names) > 1 else ""),
        )
    if table.cardinality > MOST:
        yield (*here, "cardinality"), f"{table.name} cannot have more than {MOST:,} rows"
    yield from _walk(here, table)


def _walk(here: Path, table: TableSpec) -> Iterator[Finding]:
    if table.step is None:
        if table.minimum is not None:
            yield (
                (*here, "minimum"),
                f"{table.name} has a minimum but no step: the variable table has both, a fixed one neither",
            )
        return
    if table.minimum is not None and table.minimum > table.cardinality:
        yield (
            (*here, "minimum"),
            f"the minimum of {table.name}, {table.minimum:,}, is above its cardinality, {table.cardinality:,}",
        )
    elif table.step > table.cardinality:
        yield (
            (*here, "step"),
            f"the step of {table.name}, {table.step:,}, is above its cardinality, {table.cardinality:,}",
        )
    elif table.minimum != table.cardinality and table.step > table.cardinality - (table.minimum or 0):
        yield (
            (*here, "step"),
            f"the step of {table.name}, {table.step:,}, does not fit between its cardinality, "
            f"{table.cardinality:,}, and its minimum, {table.minimum:,}",
        )


def _name(path: Path, name: str) -> Iterator[Finding]:
    if name.lower().startswith(PREFIX):
        yield path, f"the name {name} begins with {PREFIX}, which Tare keeps for its own tables and columns"
    elif is_reserved(name):
        yield path, f"{name} is a word of SQL's own in one DBMS or another: choose another name"


def twice(path: Path, names: Sequence[tuple[int, str]], what: str) -> Iterator[Finding]:
    """SQL does not tell names by their case."""
    counted = Counter(name.lower() for _, name in names)
    seen: set[str] = set()
    for number, name in names:
        if counted[name.lower()] > 1 and name.lower() in seen:
            yield (*path, number, "name"), f"there is a {what} {name} already: give each a name of its own"
        seen.add(name.lower())
