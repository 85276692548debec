"""Answers of TPC-H agree where only numbers' last digits, padding or the order of rows differ."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from tare.workload.tpch.reference import first_difference

EXPECTED: list[Sequence[object]] = [
    ("FRANCE", 1995, Decimal("100000.00")),
    ("GERMANY", 1996, Decimal("5.25")),
]


@pytest.mark.parametrize(
    "rows",
    [
        EXPECTED,
        EXPECTED[::-1],
        [("FRANCE   ", "1995", 100000.00), ("GERMANY", 1996.0, "5.25")],
        [("FRANCE", 1995, 100000.09), ("GERMANY", 1996, 5.259)],
    ],
    ids=["equal", "other order", "padding and types", "last digits"],
)
def test_answers_agree(rows: Sequence[Sequence[object]]) -> None:
    assert first_difference(rows, EXPECTED) is None


def test_the_first_difference_is_named() -> None:
    assert first_difference(EXPECTED[:1], EXPECTED) == "1 row instead of 2"
    assert first_difference([EXPECTED[0], ("GERMANY", 1996, 5.27)], EXPECTED) == (
        "5.27 instead of 5.25 in row 2 of the sorted answer"
    )
    assert first_difference([("FRANCE", 1995, 100000.2), EXPECTED[1]], EXPECTED) == (
        "100000.2 instead of 100000.0 in row 1 of the sorted answer"
    )
    assert first_difference([("FRANCE", 1995), EXPECTED[1]], EXPECTED) == (
        "None instead of 100000.0 in row 1 of the sorted answer"
    )
