"""TPC-H's tables are recognised by their row counts; its queries have no placeholder left."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.workload.tpch.queries import NUMBERS, query
from tare.workload.tpch.schema import TABLES
from tare.workload.tpch.tables import expected_rows, refuse_other_scale

SCALE_1 = {
    "region": 5,
    "nation": 25,
    "supplier": 10_000,
    "part": 200_000,
    "partsupp": 800_000,
    "customer": 150_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
"""Cardinalities of the specification (§4.2.5.1)."""


def test_the_specifications_row_counts_are_those_of_scale_1() -> None:
    assert set(SCALE_1) == {table.name for table in TABLES}
    refuse_other_scale(SCALE_1, 1)
    assert expected_rows(0.1)["orders"] == range(150_000, 150_001)


def test_tables_of_another_scale_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="supplier has 10,000 rows") as refused:
        refuse_other_scale(SCALE_1, 0.1)
    assert "region" not in refused.value.what
    with pytest.raises(UsageError, match="lineitem is missing"):
        refuse_other_scale({name: rows for name, rows in SCALE_1.items() if name != "lineitem"}, 1)


def test_the_year_of_a_date_is_written_as_the_dbms_has_it() -> None:
    assert "CAST(substr(l_shipdate, 1, 4) AS integer)" in query(7, "sqlite")
    assert "extract(year FROM l_shipdate)" in query(7, "postgresql")


def test_the_fraction_of_query_11_falls_as_the_scale_grows() -> None:
    assert "* 0.0001000000" in query(11, "duckdb")
    assert "* 0.0000010000" in query(11, "duckdb", 100)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_placeholder_is_left(number: int) -> None:
    assert not {"{", "}", ";"} & set(query(number, "postgresql"))
