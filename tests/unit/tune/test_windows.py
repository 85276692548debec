"""Transactions belong to the window of their intended start."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.tune.windows import Window, figures
from tare.workload.oltp.samples import ENDS, RECORD

MS = 1_000_000
COMMITTED, UNSTARTED = ENDS.index("committed"), ENDS.index("unstarted")
WINDOW = Window(block=0, arm=0, begins_ns=0, from_ns=1000 * MS, to_ns=2000 * MS, switch_ms=1.0)


def records(*rows: tuple[int, int, int, int]) -> NDArray[np.void]:
    """Rows of end, intended, started, ended; instants in ms."""
    found = np.zeros(len(rows), RECORD)
    for place, (end, intended, started, ended) in enumerate(rows):
        found[place] = (0, end, 1, 0, place, intended * MS, started * MS, ended * MS)
    return found


def test_a_transaction_that_ends_later_counts_where_it_was_due() -> None:
    rows = [(COMMITTED, 1000 + at, 1000 + at, 1002 + at) for at in range(99)]
    late = (COMMITTED, 1999, 2500, 3099)
    found = figures(records(*rows, late), [WINDOW], 2.0)[0]
    assert (found.offered, found.finished) == (100, 100)
    assert found.throughput == 99
    assert found.mean == pytest.approx((99 * 2 + 1100) / 100)


def test_settling_transactions_are_left_out_and_those_that_wait_are_the_backlog() -> None:
    before = [(COMMITTED, 900, 1100, 1200), (UNSTARTED, 950, 0, 0), (COMMITTED, 800, 810, 820)]
    rows = [(COMMITTED, 1000 + at, 1000 + at, 1001 + at) for at in range(30)]
    found = figures(records(*before, *rows), [WINDOW], 2.0)[0]
    assert found.backlog == 2
    assert found.finished == 30
    assert found.mean == pytest.approx(1.0)


def test_the_norm_of_order_two_is_the_root_mean_square() -> None:
    rows = [(COMMITTED, 1000 + at, 1000 + at, 1000 + at + 1 + at % 3) for at in range(60)]
    found = figures(records(*rows), [WINDOW], 2.0)[0]
    assert found.norm == pytest.approx(((1 + 4 + 9) / 3) ** 0.5)
    assert found.variance is not None
    assert found.sd == pytest.approx(found.variance**0.5)


def test_a_window_of_few_transactions_has_no_figures() -> None:
    assert figures(records((COMMITTED, 1500, 1500, 1501)), [WINDOW], 2.0)[0].mean is None
