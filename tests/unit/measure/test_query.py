"""Parameters are scanned exactly and expanded only where a query names them."""

import pytest

from tare.errors import UsageError
from tare.measure.query import Query, expand, scan


def test_a_scan_in_tenths_has_no_rounding() -> None:
    assert scan("x", "0.1", "0.5", "0.1") == ("x", ["0.1", "0.2", "0.3", "0.4", "0.5"])


def test_a_scan_ends_at_or_below_its_maximum() -> None:
    assert scan("n", "1", "10", "4")[1] == ["1", "5", "9"]


@pytest.mark.parametrize(
    ("low", "high", "step"), [("5", "1", "1"), ("1", "5", "0"), ("1", "5", "-1"), ("a", "5", "1")]
)
def test_a_scan_that_cannot_be_is_refused(low: str, high: str, step: str) -> None:
    with pytest.raises(UsageError, match="--parameter-scan"):
        scan("n", low, high, step)


def test_each_combination_is_a_query_and_others_are_left_alone() -> None:
    queries = [Query("a", "SELECT {x} + {y}"), Query("b", "SELECT 1")]
    expanded = expand(queries, [("x", ["1", "2"]), ("y", ["3"])])
    assert [(q.name, q.sql) for q in expanded] == [
        ("a [x=1, y=3]", "SELECT 1 + 3"),
        ("a [x=2, y=3]", "SELECT 2 + 3"),
        ("b", "SELECT 1"),
    ]


def test_a_parameter_that_no_query_names_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"\{z\}"):
        expand([Query("a", "SELECT 1")], [("z", ["1"])])
