"""Rows are the same for ever: known answers, beginnings, ranges."""

from __future__ import annotations

import numpy as np

from tare.experiment import fingerprint
from tare.experiment.rows import chunks
from tare.experiment.specification import ColumnSpec, TableSpec
from tests.unit.experiment.specifications import four_tables

KEYED, PLAIN = four_tables(20_000)[:2]


def whole(table: TableSpec, cardinality: int, size: int = 65_536) -> list[list[int]]:
    parts = [columns for _, columns in chunks(table, cardinality, size)]
    return [np.concatenate(column).tolist() for column in zip(*parts, strict=True)]


def test_the_first_rows_are_known() -> None:
    """A change here would make the tables of every experiment that was ever run other ones."""
    assert list(zip(*whole(KEYED, 3), strict=True)) == KNOWN_KEYED
    assert list(zip(*whole(PLAIN, 3), strict=True)) == KNOWN_PLAIN


def test_a_smaller_cardinality_is_a_beginning_of_a_larger_one_however_it_is_cut() -> None:
    large = whole(PLAIN, 10_000)
    assert whole(PLAIN, 777, size=100) == [column[:777] for column in large]


def test_a_primary_key_counts_and_other_columns_stay_within_their_range() -> None:
    table = TableSpec(
        name="t",
        cardinality=5_000,
        primary_key="k",
        columns=(
            ColumnSpec(name="k"),
            ColumnSpec(name="a", low=-3, high=3),
            ColumnSpec(name="b", low=-(2**31), high=2**31 - 1),
        ),
    )
    key, few, all_ = whole(table, 5_000)
    assert key == list(range(1, 5_001))
    assert set(few) == set(range(-3, 4))
    assert min(all_) < -(2**30) < 2**30 < max(all_)


def test_values_are_spread_evenly() -> None:
    counts = np.bincount(
        whole(TableSpec(name="t", cardinality=100_000, columns=(ColumnSpec(name="a", high=9),)), 100_000)[0]
    )
    squares = float((((counts - 10_000) ** 2) / 10_000).sum())
    assert squares < 27.9, "chi-square of nine degrees of freedom passes 27.9 once in a thousand seeds"


def test_seed_table_and_column_each_make_another_stream() -> None:
    a, b, *_ = whole(PLAIN, 100)
    assert a != b
    assert whole(PLAIN.model_copy(update={"seed": 9}), 100)[0] != a
    assert whole(PLAIN.model_copy(update={"name": "other"}), 100)[0] != a


def test_the_fingerprint_of_a_table_is_known_and_tells_order() -> None:
    assert fingerprint.expected(PLAIN, 20_000) == KNOWN_FINGERPRINT
    assert fingerprint.expected(PLAIN, 19_999) != KNOWN_FINGERPRINT


KNOWN_KEYED = [(1, 2427, 12454, 1696), (2, 18528, 475, 8961), (3, 15363, 10865, 4491)]
KNOWN_PLAIN = [(120, 1232, 16664, 15927), (5928, 15959, 15249, 3013), (19266, 12630, 15530, 12937)]
KNOWN_FINGERPRINT = "20000:138803c3dc28:138389ebd588"
