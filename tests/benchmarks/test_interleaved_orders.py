"""Windows of FCFS and VATS in one load: which transactions are whose, and how the two are compared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.profile_table1.schedules import FCFS, VATS, Window, arms, orders, ratio_of

from tare.workload.oltp.samples import ENDS, RECORD

MS = 1_000_000


def transactions(*rows: tuple[int, int, str]) -> np.ndarray:
    """Each with the ms at which it was due and ended, and how it ended."""
    made = np.zeros(len(rows), RECORD)
    for place, (due, ended, end) in enumerate(rows):
        made[place]["intended"], made[place]["ended"] = due * MS, ended * MS
        made[place]["end"] = ENDS.index(end)
    return made


def test_a_block_meets_a_drift_with_both_orders_alike() -> None:
    blocks = list(orders(2))
    assert [order for block, order in blocks if block == 0] == [FCFS, VATS, VATS, FCFS]
    assert [order for block, order in blocks if block == 1] == [VATS, FCFS, FCFS, VATS]


def test_a_transaction_belongs_to_the_window_in_which_it_was_due() -> None:
    rows = transactions(
        (5, 8, "committed"),
        (9, 30, "rolled_back"),
        (10, 11, "committed"),  # no longer in the first window
        (25, 26, "committed"),
        (26, 30, "committed"),
        (27, 99, "deadlock"),  # it was given up
    )
    windows = [Window(0, FCFS, 0, 10 * MS), Window(0, VATS, 20 * MS, 30 * MS)]
    fcfs, vats = arms(rows, windows)
    assert (fcfs.order, fcfs.transactions, fcfs.mean, fcfs.waiting) == (FCFS, 2, 12.0, 0)
    assert (vats.transactions, vats.mean, vats.waiting) == (2, 2.5, 1)
    assert (fcfs.variance, vats.variance) == (162.0, 4.5)


def test_the_ratio_is_that_of_the_blocks_and_says_how_many_agree() -> None:
    ratio = ratio_of("variance", np.linspace(-1.0, 1.5, 9))
    assert ratio.centre == pytest.approx(math.exp(0.25))
    assert (ratio.better, ratio.blocks) == (5, 9)
    assert ratio.low < 1.0 < ratio.high
    assert not ratio.is_decided


def test_an_order_that_is_always_worse_is_decided() -> None:
    ratio = ratio_of("mean", np.log(np.linspace(1.5, 2.5, 20)))
    assert 1.0 < ratio.low < ratio.centre < ratio.high
    assert ratio.is_decided
