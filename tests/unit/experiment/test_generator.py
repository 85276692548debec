"""Generated queries: known for their seed, bounded, and accepted and answered by SQLite and DuckDB alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.experiment import estimate
from tare.experiment.dialect import dialect_of
from tare.experiment.generator import GROWTH, generate, queries_of
from tare.experiment.rows import chunks
from tare.experiment.specification import ColumnSpec, GenerateSpec, QuerySpec, TableSpec
from tare.measure.answer import answer_hash
from tests.unit.experiment.specifications import experiment, four_tables

TABLES = four_tables(1_000)


def fill(tables: Sequence[TableSpec], engine: sqlite3.Connection | duckdb.DuckDBPyConnection) -> None:
    dialect = dialect_of("sqlite" if isinstance(engine, sqlite3.Connection) else "duckdb")
    for table in tables:
        engine.execute(dialect.create_source("everything", table))
        for start, columns in chunks(table, table.cardinality):
            engine.execute(dialect.insert("everything", start + 1, columns))
        for sql in dialect.copy("everything", table, table.cardinality):
            engine.execute(sql)
        engine.execute("DROP TABLE everything")


def test_a_hundred_queries_run_on_sqlite_and_duckdb_and_have_one_answer() -> None:
    lite, duck = sqlite3.connect(":memory:"), duckdb.connect()
    fill(TABLES, lite)
    fill(TABLES, duck)
    told = 0
    for query in generate(GenerateSpec(count=100, seed=7), TABLES):
        one = lite.execute(query.sql).fetchall()
        other = duck.execute(query.sql).fetchall()
        assert answer_hash(one) == answer_hash(other), query.sql
        assert len(one) == 1, "the answer is one row"
        told += bool(one[0][0])
    assert told >= 95, "an empty answer checks nothing"


def test_the_same_seed_gives_the_same_queries_and_fewer_are_the_first_of_more() -> None:
    many = generate(GenerateSpec(count=30, seed=5), TABLES)
    assert generate(GenerateSpec(count=10, seed=5), TABLES) == many[:10]
    assert len({query.sql for query in many}) == 30
    assert not {query.sql for query in generate(GenerateSpec(count=30, seed=6), TABLES)} & {
        q.sql for q in many if " t1" in q.sql
    }


def test_the_first_query_of_seed_1_is_known() -> None:
    """A change here would make the query set of every experiment that was ever generated another one."""
    assert generate(GenerateSpec(count=1, seed=1), TABLES)[0].sql == KNOWN


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_no_query_has_more_correlation_names_than_asked_for_and_some_have_as_many(most: int) -> None:
    names = [
        query.sql.count("ft_HT") for query in generate(GenerateSpec(count=40, correlation_names=most), TABLES)
    ]
    assert max(names) == most


def test_every_query_looks_at_the_variable_table() -> None:
    assert all("ft_HT1" in query.sql for query in generate(GenerateSpec(count=60), TABLES))


def test_without_aggregates_only_the_subquerys_rows_are_looked_at() -> None:
    queries = generate(GenerateSpec(count=40, aggregates=False), TABLES)
    assert all("GROUP BY" not in query.sql and "sum(" not in query.sql for query in queries)
    assert any("GROUP BY" in query.sql for query in generate(GenerateSpec(count=40), TABLES))


def test_written_queries_come_before_generated_ones() -> None:
    both = experiment(*TABLES, generate=2).model_copy(
        update={"queries": (QuerySpec(name="mine", sql="SELECT 1"),)}
    )
    assert [query.name for query in queries_of(both)] == ["mine", "g1", "g2"]


@example([(103, False, 2)], 1)
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(20, 400), st.booleans(), st.integers(2, 1_000)), min_size=1, max_size=3),
    st.integers(0, 10**6),
)
def test_no_query_explodes_whatever_the_tables(shapes: list[tuple[int, bool, int]], seed: int) -> None:
    """The bound on estimates, plus what they leave out: they take joins as independent, and four names joined on one
    column give Σ k⁴ rows, k of a value's rows Poisson(1): 15 a value in the mean where the estimate says 8, with a
    standard deviation of 64."""
    tables = [
        TableSpec(
            name=f"ft_{number}",
            cardinality=rows,
            step=rows if number == 0 else None,
            primary_key="id1" if keyed else None,
            columns=(
                ColumnSpec(name="id1"),
                ColumnSpec(name="id2", high=values),
                ColumnSpec(name="id3", high=values),
            ),
        )
        for number, (rows, keyed, values) in enumerate(shapes)
    ]
    lite = sqlite3.connect(":memory:")
    fill(tables, lite)
    largest = max(rows for rows, _, _ in shapes)
    for query in generate(GenerateSpec(count=5, seed=seed), tables):
        [(rows,)] = lite.execute(f"SELECT count(*) FROM {_from_and_where(query.sql)}").fetchall()
        assert rows <= GROWTH * largest * 15 / 8 + 5 * 64 * largest**0.5, query.sql


def _from_and_where(sql: str) -> str:
    """FROM and WHERE of the innermost SELECT."""
    return sql.rpartition(" FROM ")[2].partition(" GROUP BY")[0].removesuffix(") q")


def test_joins_of_large_tables_without_a_key_are_avoided_unless_asked_for() -> None:
    plain = [table.model_copy(update={"primary_key": None}) for table in four_tables(1_000_000)]
    assert all(query.sql.count("ft_HT") == 1 for query in generate(GenerateSpec(count=10), plain))
    bold = generate(GenerateSpec(count=10, pairs=10**15), plain)
    assert any(query.sql.count("ft_HT") > 1 for query in bold)


def test_tables_that_leave_no_room_are_told() -> None:
    with pytest.raises(UsageError, match="no query could be generated"):
        generate(GenerateSpec(count=1), [TableSpec(name="t", cardinality=3, step=1)])


def test_the_estimate_of_a_key_join_is_the_other_tables_rows() -> None:
    keyed, plain = TABLES[0], TABLES[1]
    join = estimate.Join(0, plain.columns[1], 1, keyed.columns[0])
    size = estimate.size(
        frozenset({0, 1}), [1_000.0, 1_000.0], [(join, estimate.match([plain, keyed], join))]
    )
    assert size == pytest.approx(1_000, rel=0.01)


KNOWN = (
    "SELECT count(*) AS n, min(c0) AS low0, max(c0) AS high0 FROM (SELECT t0.id4 AS c0 FROM ft_"
    "HT4 t0, ft_HT3 t1, ft_HT3 t2, ft_HT1 t3 WHERE t0.id3 = t1.id1 AND t1.id2 = t2.id1 AND t1.i"
    "d3 = t3.id1 AND t0.id2 < 250 AND t3.id2 < 500) q"
)
