"""Calls of a function in a transaction, from entries that are counted for a moment."""

from __future__ import annotations

import pytest

from tare.profile.counting import Counts
from tests.unit.profile.doubles import Clock, NoRecorder, recording

PER_S = 2_000.0


def test_transactions_after_the_entries_were_read_do_not_count() -> None:
    """A window lasts until other probes are set, here as long again as it was counted for."""
    clock = Clock()
    recorder = NoRecorder(clock, {}, {})
    recorder.calls = lambda: {2: round(5 * PER_S * (clock.now - recorder.sets[-1].at))}  # type: ignore[method-assign]
    counts = Counts()
    counts.take(recording(recorder, clock), [2], 1.0, 1, lambda event: None, entry_ns=lambda _: 1e6)
    read_at = clock.now
    recorder.set_s = read_at - recorder.sets[0].at
    recorder.set([], [], "timing", "bare", 1)
    begin, end = (one.at for one in recorder.sets)

    def transactions_in(window: int, until_s: float) -> int:
        assert window == 0
        return round(PER_S * (min(end, until_s) - begin))

    assert transactions_in(0, end) == pytest.approx(2 * transactions_in(0, read_at))
    assert counts.per_transaction(transactions_in, PER_S)[2] == pytest.approx(5)
