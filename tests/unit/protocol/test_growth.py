"""A database that grows from run to run, and one that only moves."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import pytest

from tare.dbms.extent import Extent, TableRows
from tare.measure.records import QE
from tare.protocol.growth import growth, rises
from tests.unit.protocol.qe_records import run_of


def _runs(sizes: Sequence[int | None], rows: Sequence[dict[str, TableRows]] = ()) -> list[QE]:
    return [
        dataclasses.replace(one, met=Extent(size, rows[i] if rows else {}))
        for i, (one, size) in enumerate(zip(run_of([55.0] * len(sizes)), sizes, strict=True))
    ]


def test_steps_count_as_growth_and_their_mean_is_the_rate() -> None:
    found = growth(_runs([10, 10, 20, 20, 30, 30, 40, 40, 50, 50]))
    assert found is not None
    assert found.size_bytes == pytest.approx(40 / 9)
    assert (found.runs, found.table, found.cost) == (10, None, None)


def test_the_table_that_gains_most_is_named() -> None:
    rows = [{"a": TableRows(100 + i), "b": TableRows(9, 50 * i), "c": TableRows(1000 - i)} for i in range(10)]
    found = growth(_runs(list(range(10)), rows))
    assert found is not None
    assert (found.table, found.live_rows, found.dead_rows, found.size_bytes) == ("b", 0, 50, 1)


def test_dead_rows_that_take_no_room_are_a_count_that_is_out_of_date() -> None:
    rows = [{"a": TableRows(9, 50 * i)} for i in range(10)]
    assert growth(_runs([7] * 10, rows)) is None
    found = growth(_runs([None] * 10, rows))
    assert found is not None
    assert found.dead_rows == 50


@pytest.mark.parametrize(
    "sizes", [[10] * 10, [10, 20] * 5, [20 - i for i in range(10)], [10, 20], [None] * 10]
)
def test_what_does_not_rise_is_no_growth(sizes: list[int | None]) -> None:
    assert growth(_runs(sizes)) is None


def test_what_was_not_looked_at_is_no_growth() -> None:
    assert growth(run_of([50.0 + i for i in range(10)])) is None


def test_noise_rises_in_fewer_than_one_run_in_a_hundred() -> None:
    draw = random.Random(1)
    found = sum(rises([draw.gauss(0, 1) for _ in range(10)]) for _ in range(4000))
    assert found < 40


def test_a_trend_of_one_spread_a_run_is_found() -> None:
    draw = random.Random(2)
    found = sum(rises([i + draw.gauss(0, 1) for i in range(10)]) for _ in range(200))
    assert found > 190
