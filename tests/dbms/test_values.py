"""Values at the edges: every one can be received and compared, whatever Python has room for."""

from __future__ import annotations

import pytest

from tare.dbms.registry import find
from tare.errors import BadStatement, StatementFailed
from tare.measure.answer import answer_hash

EDGES = [
    "date 'infinity'", "date '4713-01-01 BC'", "timestamp '-infinity'", "timestamp '20000-01-01'",
    "timestamptz '20000-01-01 00:00:00+00'", "interval '170000000 years'", "time '24:00'", "timetz '24:00+1'",
    "daterange('infinity', NULL)", "ARRAY[date '2020-01-01', 'infinity']",
    "(repeat('[', 3000) || repeat(']', 3000))::json", "numeric 'NaN'", "'-Infinity'::float8", r"'\xdead'::bytea",
    "row(1, NULL)", "10::numeric ^ 6000",
]  # fmt: skip


@pytest.mark.parametrize("name", ["postgresql", "postgresql15"])
def test_values_wider_than_pythons_are_received_and_told_apart(
    name: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{name}_url")
    session = find(url).connect(url)
    try:
        prepared = session.prepare("SELECT 1 AS a, NULL AS a, " + ", ".join(EDGES))
        one, two = (answer_hash(prepared.execute(10).rows()) for _ in range(2))
        assert one == two
        far, near = (
            answer_hash(session.prepare(f"SELECT date '{day}'").execute(10).rows())
            for day in ("infinity", "-infinity")
        )
        assert far != near
    finally:
        session.close()


def test_text_of_sqlite_that_is_not_utf_8_is_said_with_a_way_out(sqlite_url: str) -> None:
    session = find(sqlite_url).connect(sqlite_url)
    try:
        with pytest.raises(StatementFailed, match="CAST"):
            session.prepare("SELECT CAST(x'ff' AS TEXT)").execute(10)
        (row,) = session.prepare("SELECT CAST(CAST(x'ff' AS TEXT) AS BLOB)").execute(10).rows()
        assert tuple(row) == (b"\xff",)
    finally:
        session.close()


def test_a_pivot_that_looks_for_its_columns_is_refused_with_a_way_out(duckdb_url: str) -> None:
    session = find(duckdb_url).connect(duckdb_url)
    try:
        with pytest.raises(BadStatement, match="several statements"):
            session.prepare("PIVOT numbers ON grp USING count(*)")
        assert session.prepare("PIVOT numbers ON grp IN (1, 2) USING count(*)").execute(10).row_count > 0
    finally:
        session.close()
