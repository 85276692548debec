"""Entries that are counted for a moment: how long, and the calls in a transaction that they tell of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tare.profile.counting import ENOUGH, GLANCE_S, HOT, MOST_S, STEP_S, Counts
from tests.unit.profile.doubles import Clock, NoRecorder, Set, recording

MEANWHILE_NS = HOT * 1e9 * GLANCE_S
"""Time that all functions of a batch may take in a glance."""


PER_S = 2_000.0


def counted(a_glance: Mapping[int, float], entry_ns: float) -> list[Set]:
    """Windows in which functions are counted that are entered so often in GLANCE_S."""
    clock = Clock()
    recorder = NoRecorder(clock, dict(a_glance), {})
    recorder.calls = lambda: {one: round(entries) for one, entries in a_glance.items()}  # type: ignore[method-assign]
    Counts().take(
        recording(recorder, clock), list(a_glance), 1.0, 1, lambda event: None, entry_ns=lambda _: entry_ns
    )
    return recorder.sets


def test_a_batch_that_is_cheap_is_counted_on() -> None:
    assert [one.watched for one in counted({2: 10, 3: 20}, entry_ns=100.0)] == [(2, 3)]


def test_what_has_enough_entries_after_a_glance_is_let_go_of() -> None:
    windows = counted({2: 10, 3: ENOUGH, 4: 10}, entry_ns=1.0)
    assert [one.watched for one in windows] == [(2, 3, 4), (2, 4)]


def test_many_functions_of_which_each_is_cheap_are_dear_together() -> None:
    """Each takes a tenth of what a batch may: the dearest go until the rest fits."""
    entry_ns = MEANWHILE_NS / 10 / 100
    windows = counted({number: 100.0 + (number == 5) for number in range(2, 32)}, entry_ns)
    assert len(windows) == 2
    assert len(windows[1].watched) == 10
    assert 5 not in windows[1].watched


def test_a_burst_after_the_glance_ends_the_counting_of_its_batch() -> None:
    """50,000 entries a second of 10 us from the second 0.3 on: half a CPU, which may be taken for 0.04 s."""
    clock = Clock()
    recorder = NoRecorder(clock, {}, {})
    recorder.calls = lambda: {2: round(50_000 * max(0.0, clock.now - 0.3))}  # type: ignore[method-assign]
    counts = Counts()
    counts.take(recording(recorder, clock), [2], 1.0, 1, lambda event: None, entry_ns=lambda _: 1e4)
    assert 0.3 < clock.now < 0.3 + STEP_S + HOT * MOST_S / 0.5 + 0.01
    assert counts.per_transaction(PER_S)[2] == pytest.approx(
        50_000 * (clock.now - 0.3) / clock.now / PER_S, rel=1e-3
    )


@pytest.mark.parametrize("entries", [0, 1])
def test_what_is_hardly_called_is_counted_to_the_end(entries: int) -> None:
    (window,) = counted({2: entries, 3: entries}, entry_ns=1e4)
    assert window.watched == (2, 3)


def test_what_follows_after_the_entries_were_read_does_not_count() -> None:
    """A window lasts until other probes are set, here as long again as it was counted for."""
    clock = Clock()
    recorder = NoRecorder(clock, {}, {})
    recorder.calls = lambda: {2: round(5 * PER_S * (clock.now - recorder.sets[-1].at))}  # type: ignore[method-assign]
    counts = Counts()
    counts.take(recording(recorder, clock), [2], 1.0, 1, lambda event: None, entry_ns=lambda _: 1e6)
    clock.pause(clock.now - recorder.sets[0].at)
    assert counts.per_transaction(PER_S)[2] == pytest.approx(5)


def test_without_a_transaction_nothing_is_called_in_one() -> None:
    clock = Clock()
    counts = Counts()
    counts.take(recording(NoRecorder(clock, {}, {}), clock), [2], 1.0, 1, lambda event: None)
    assert counts.per_transaction(0.0) == {2: 0.0}
