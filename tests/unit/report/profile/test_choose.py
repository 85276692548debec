"""Choice of the transactions that are exported."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tare.errors import UsageError
from tare.protocol.profile.measured import Window
from tare.report.profile.choose import able, asked_for, median, slowest, spans

DURATIONS = np.array([5, 90, 7, 100, 6, 8], dtype=np.int64)
ABLE = np.array([True, True, True, False, True, True])
TABLE = pa.table(
    {
        "pid": pa.array([7] * 6, pa.int32()),
        "tid": pa.array([71, 72, 73, 74, 75, 76], pa.int32()),
        "begin_ns": pa.array([10, 20, 30, 40, 50, 60], pa.uint64()),
        "duration_ns": pa.array(DURATIONS, pa.uint64()),
        "label": pa.array([0, 5, 5, 5, 6, 0], pa.uint32()),
        "window": pa.array([0, 1, 1, 1, 2, 3], pa.uint32()),
        "why": pa.array(["valid", "valid", "lost", "valid", "valid", "valid"]).dictionary_encode(),
    }
)


def window(number: int) -> Window:
    return Window(number, 0, 100, "probed", 1)


def test_only_valid_transactions_of_windows_with_probes_can_be_drawn() -> None:
    assert able(TABLE, [window(1), window(2)]).tolist() == [False, True, False, True, True, False]


def test_the_slowest_are_able_ones_and_come_in_order() -> None:
    assert slowest(DURATIONS, ABLE, 2) == [1, 5]
    assert slowest(DURATIONS, ABLE, 99) == [1, 5, 2, 4, 0]


def test_the_middle_is_what_is_nearest_to_the_median_of_the_able() -> None:
    assert median(DURATIONS, ABLE, 3) == [2, 4, 5]
    assert median(DURATIONS, np.zeros(6, dtype=bool), 3) == []


def test_one_that_there_is_not_or_that_cannot_be_used_is_refused() -> None:
    assert asked_for([4, 0, 4], ABLE) == [4, 0]
    with pytest.raises(
        UsageError, match=r"transaction 6: the profile has no such; they are numbered from 0 to 5"
    ):
        asked_for([6], ABLE)
    with pytest.raises(UsageError, match="transaction 3 cannot be drawn: it is not valid"):
        asked_for([3], ABLE)
    with pytest.raises(UsageError, match="it has none"):
        asked_for([0], np.zeros(0, dtype=bool))


def test_one_that_was_chosen_twice_is_one_span() -> None:
    found = spans(TABLE, [(3, "slowest"), (1, "slowest"), (3, "asked for"), (0, "median")], {5: "SELECT ?"})
    assert [(one.number, one.tid, one.begin_ns, one.duration_ns, one.type, one.chosen) for one in found] == [
        (3, 74, 40, 100, "SELECT ?", "slowest"),
        (1, 72, 20, 90, "SELECT ?", "slowest"),
        (0, 71, 10, 5, "", "median"),
    ]
    assert spans(TABLE, [], {}) == []
