"""SQL that is compiled once for each shape of an expression, and names the tables of the expression at hand."""

from __future__ import annotations

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import pytest
from ibis.backends.duckdb import Backend

from tare.lab import compiled
from tare.lab.answers import kept, rows
from tare.lab.compiled import Query

Expression = Callable[[ir.Table, ir.Table], ir.Table]

EXPRESSIONS: dict[str, Expression] = {
    "a filter": lambda one, _: one.filter(one.n > 1),
    "a join": lambda one, other: one.join(other, "n").select("n", "share"),
    "a join the other way": lambda one, other: other.join(one, "n").select("n", "share"),
    "a join with itself": lambda one, _: one.join(one.view(), "n").select("n", "share"),
    "a union": lambda one, other: ibis.union(one, other, distinct=False),
    "another constant": lambda one, _: one.filter(one.n > 2),
    "a constant of another type": lambda one, _: one.mutate(k=ibis.literal(1.0)),
    "a constant of the same value": lambda one, _: one.mutate(k=ibis.literal(1, "int64")),
    "a text with quotes": lambda one, _: one.mutate(k=ibis.literal('it\'s "1"')),
    "a window": lambda one, _: one.mutate(k=one.n.sum().over(group_by="share")),
    "an empty sign": lambda one, _: one.mutate(k=ibis.literal(-0.0)),
    "a zero": lambda one, _: one.mutate(k=ibis.literal(0.0)),
}


@pytest.fixture(autouse=True)
def templates(monkeypatch: pytest.MonkeyPatch) -> dict[object, object]:
    empty: dict[object, object] = {}
    monkeypatch.setattr(compiled, "_templates", empty)
    return empty


def tables() -> tuple[Backend, ir.Table, ir.Table]:
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE a AS SELECT unnest([1, 2, 3]) AS n, 0.5::DOUBLE AS share")
    backend.con.execute("CREATE TABLE b AS SELECT unnest([2, 3, 4]) AS n, 0.25::DOUBLE AS share")
    return backend, kept(backend.table("a")), kept(backend.table("b"))


def test_each_expression_is_compiled_as_ibis_compiles_it() -> None:
    """Twice over other tables, so that the second SQL comes out of the first's template."""
    for _ in range(2):
        backend, one, other = tables()
        for name, make in EXPRESSIONS.items():
            assert Query(make(one, other)).sql() == backend.compile(make(one, other)), name


def test_a_shape_is_compiled_once(templates: dict[object, object], monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        backend, one, other = tables()
        before = len(templates)
        assert len({Query(make(one, other)).sql() for make in EXPRESSIONS.values()}) == len(EXPRESSIONS)
    assert len(templates) == before

    monkeypatch.setattr(backend, "compile", lambda *_: pytest.fail("it was compiled again"))
    for make in EXPRESSIONS.values():
        rows(make(one, other))


def test_a_table_of_another_type_is_another_shape() -> None:
    backend, one, _ = tables()
    wide = kept(one.mutate(n=one.n.cast("float64")))
    for table in (one, wide):
        assert Query(table.filter(table.n == 1)).sql() == backend.compile(table.filter(table.n == 1))


def test_the_number_of_shapes_has_a_limit(
    templates: dict[object, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LIMIT", 3)
    _, one, _ = tables()
    for n in range(20):
        assert len(rows(one.filter(one.n > n))) == max(3 - n, 0)
        assert len(templates) <= 3


def test_rows_of_python_are_computed_and_kept_too() -> None:
    memory = ibis.memtable({"n": [1, 2]})
    assert not Query(memory).runs_in_duckdb
    assert rows(kept(memory).order_by("n")) == [{"n": 1}, {"n": 2}]
