"""Rules within the tables of a specification and between its parts, beyond each part's own type.

Rules are told the parts that are well-formed, so that one misspelt key hides no other mistake.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tare.dbms.registry import find as find_adapter
from tare.dbms.statement import may_be_measured
from tare.dbms.url import redacted
from tare.errors import UsageError
from tare.experiment.explain import Finding
from tare.experiment.generator import generate
from tare.experiment.places import Path
from tare.experiment.reserved import is_reserved
from tare.experiment.scenario.registry import scenarios
from tare.experiment.specification import (
    LEAST,
    MOST,
    DbmsSpec,
    GenerateSpec,
    QuerySpec,
    Specification,
    TableSpec,
    WatchSpec,
)
from tare.workload.wisconsin.specification import WisconsinSpec

_Model = TypeVar("_Model", bound=BaseModel)

PREFIX = "tare_"
_CALLED = {"tables": "table", "queries": "query", "dbms": "DBMS"}


def mistakes_of(document: dict[str, Any], whole: Specification | None) -> list[Finding]:
    """`whole` is None if some part of the document is not well-formed."""
    tables = _well_formed(document, "tables", TableSpec)
    queries = _well_formed(document, "queries", QuerySpec)
    dbms = _well_formed(document, "dbms", DbmsSpec)
    found = [*_texts(document)]
    found += [finding for number, table in tables for finding in table_mistakes(number, table)]
    found += [finding for number, one in dbms for finding in _dbms(number, one)]
    found += [finding for number, query in queries for finding in _query(number, query)]
    for key, names in (
        ("tables", [(n, table.name) for n, table in tables]),
        ("queries", [(n, query.name) for n, query in queries]),
        ("dbms", [(n, one.name) for n, one in dbms]),
    ):
        found += twice((key,), names, _CALLED[key])
    found += _scenario(document)
    if whole is not None and whole.audit and max(whole.audit) > whole.qes:
        found.append(
            (("audit",), f"a Q@C has {whole.qes} QEs: there is no number {max(whole.audit)} to audit")
        )
    found += _watch(document)
    if "wisconsin" in document:
        found += _beside_wisconsin(document)
    else:
        found += _own_work(document, tables)
    if whole is not None and not found:
        found += _generated(whole)
    return found


def _well_formed(document: dict[str, Any], key: str, model: type[_Model]) -> list[tuple[int, _Model]]:
    """The elements of an array of tables that pydantic takes, with their numbers."""
    elements = document.get(key)
    taken: list[tuple[int, _Model]] = []
    for number, element in enumerate(elements if isinstance(elements, list) else []):
        one = _taken(element, model)
        if one is not None:
            taken.append((number, one))
    return taken


def _taken(value: Any, model: type[_Model]) -> _Model | None:
    try:
        return model.model_validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError:
        return None


def _texts(document: dict[str, Any]) -> Iterator[Finding]:
    """A NUL cannot be stored in a lab, nor sent to a server."""

    def walk(value: Any, path: Path) -> Iterator[Finding]:
        match value:
            case str() if "\0" in value:
                yield path, f"`{path[-1]}` holds a NUL character (\\u0000)"
            case dict():
                for key, inner in value.items():
                    yield from walk(inner, (*path, key))
            case list():
                for number, inner in enumerate(value):
                    yield from walk(inner, (*path, number))

    yield from walk(document, ())


def _dbms(number: int, one: DbmsSpec) -> Iterator[Finding]:
    here: Path = ("dbms", number)
    if (one.url is None) == (one.start is None):
        yield (
            here,
            f"[[dbms]] {one.name} needs either `url` (a database that is there) or `start` (one that Tare starts)"
            + (", not both" if one.url is not None else ""),
        )
    if one.url is None:
        return
    try:
        find_adapter(one.url)
    except UsageError as error:
        yield (*here, "url"), f"{error.what}; {error.next_step}"
        return
    if redacted(one.url) != one.url:
        yield (
            (*here, "url"),
            f"the URL of {one.name} holds a password, and the specification is kept in the lab: give it in the "
            "driver's own place (~/.pgpass, PGPASSWORD, ~/.my.cnf)",
        )


def _query(number: int, query: QuerySpec) -> Iterator[Finding]:
    if not may_be_measured(query.sql):
        yield (
            ("queries", number, "sql"),
            f'query "{query.name}" is no query that only reads (SELECT, WITH, VALUES, …)',
        )


def _scenario(document: dict[str, Any]) -> Iterator[Finding]:
    name = document.get("scenario", "onepass")
    if not isinstance(name, str):
        return
    known = scenarios()
    if name not in known:
        close = get_close_matches(name.lower(), known, n=1)
        yield (
            ("scenario",),
            f'there is no scenario "{name}"; known are {", ".join(sorted(known))}'
            + (f"; did you mean `{close[0]}`?" if close else ""),
        )


def _watch(document: dict[str, Any]) -> Iterator[Finding]:
    watch = _taken(document["watch"], WatchSpec) if "watch" in document else None
    if watch is None:
        return
    if watch.command is None and watch.webhook is None:
        yield ("watch",), "[watch] tells nobody: give `command` or `webhook`"
    if watch.webhook is not None and not watch.webhook.startswith(("http://", "https://")):
        yield ("watch", "webhook"), "`webhook` must begin with http:// or https://"


def _variable(tables: Sequence[tuple[int, TableSpec]]) -> Iterator[Finding]:
    variable = [(number, table) for number, table in tables if table.variable]
    if not variable and tables:
        yield (
            ("tables",),
            "no table is variable: give `step` (rows) to the one whose cardinality the experiment changes",
        )
    for number, table in variable[1:]:
        yield (
            ("tables", number, "step"),
            f"{variable[0][1].name} is the variable table already: only one may have a step, so {table.name} may not",
        )


def _own_work(document: dict[str, Any], tables: Sequence[tuple[int, TableSpec]]) -> Iterator[Finding]:
    given = document.get("tables")
    if given is None:
        yield (), "`tables` is missing in the file's first part, above all [tables]"
    elif given == []:
        yield ("tables",), "`tables` must not be empty"
    elif isinstance(given, list) and len(tables) == len(given):
        yield from _variable(tables)
    if "queries" not in document and "generate" not in document:
        yield (), "there is no query: write [[queries]] with `name` and `sql`, or [generate] with `count`"


def _beside_wisconsin(document: dict[str, Any]) -> Iterator[Finding]:
    from tare.workload.wisconsin.mistakes import wisconsin_mistakes

    for key in ("tables", "queries", "generate"):
        if key in document:
            yield (key,), f"[wisconsin] brings tables and queries of its own: leave `{key}` out"
    asked = _taken(document["wisconsin"], WisconsinSpec)
    if asked is not None:
        yield from ((("wisconsin", *path), said) for path, said in wisconsin_mistakes(asked))


def _generated(specification: Specification) -> Iterator[Finding]:
    asked: GenerateSpec | None = specification.generate
    if asked is None:
        return
    try:
        made = {query.name.lower() for query in generate(asked, specification.tables)}
    except UsageError as error:
        yield ("generate",), f"{error.what}; {error.next_step}"
        return
    for number, query in enumerate(specification.queries):
        if query.name.lower() in made:
            yield (
                ("queries", number, "name"),
                f"a generated query is called {query.name} already: choose another name",
            )


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
