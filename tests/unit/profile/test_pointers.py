"""The search for callees by pointer: what is counted and timed, for how long, and what it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.profile.pointers import COUNTED, GLANCE_S, PointerSearch, Search
from tare.profile.reader import Pace
from tare.protocol.profile.loss import Activity
from tare.protocol.profile.refinement import Costs
from tests.unit.profile.doubles import MEAN_NS, Clock, NoFunctions, NoRecorder, recording

PAIR_NS = 1_000.0
SECONDS = 2.0


@dataclass
class Reader:
    seen: list[tuple[int | None, int, int]] = field(default_factory=list)

    def look(self) -> None: ...

    def pace(self, activity: Mapping[int, Activity], since: int = 0) -> Pace:
        return Pace(100, 1.0, MEAN_NS)

    def calls_seen(self) -> list[tuple[int | None, int, int]]:
        return self.seen


class Searched:
    """A search over functions of which some are called so many times a transaction."""

    def __init__(self, calls: Mapping[int, float], candidates: int, seconds: float = SECONDS) -> None:
        clock = Clock()
        self.recorder = NoRecorder(clock, calls, {})
        self.reader = Reader([(2, function, 0x2005) for function in (*calls, 7)])
        search = PointerSearch(
            recording(self.recorder, clock),
            self.reader,
            NoFunctions(),
            0.05,
            seconds,
            cpus=2,  # type: ignore[arg-type]
        )
        self.found: Search = search.search(range(10, 10 + candidates), [2], Costs({}, PAIR_NS, MEAN_NS))
        self.lasted = clock.now

    def windows(self, mode: str) -> list[tuple[int, ...]]:
        return [one.watched for one in self.recorder.sets if one.mode == mode and one.watched]


def test_functions_are_counted_by_the_thousand_and_those_that_are_called_are_timed() -> None:
    searched = Searched({10: 1.0, 2_000: 2.0}, 3_000)
    assert [len(one) for one in searched.windows("counting")] == [COUNTED, COUNTED, 3_000 - 2 * COUNTED]
    assert searched.windows("timing") == [(2, 10, 2_000)]
    assert searched.found.is_complete


def test_only_calls_of_functions_that_were_timed_are_told() -> None:
    assert [call[1] for call in Searched({10: 1.0, 11: 1.0}, 5).found.calls] == [10, 11]


def test_a_group_that_is_timed_fits_the_budget() -> None:
    """5% of 10 ms are 500 pairs of 1 µs."""
    searched = Searched({10: 300.0, 11: 300.0, 12: 100.0}, 5)
    assert searched.windows("timing") == [(2, 12, 10), (2, 11)]


def test_what_is_called_too_often_is_let_go_of_after_a_glance_and_named() -> None:
    searched = Searched({10: 1e5}, 1)
    assert searched.found.too_hot == (10,)
    assert not searched.windows("timing")
    assert searched.lasted < 2 * GLANCE_S


def test_a_search_ends_in_its_time_and_says_what_is_left() -> None:
    searched = Searched({10: 1.0}, 20 * COUNTED, seconds=0.5)
    assert searched.lasted <= 0.5 + 0.1
    assert 0 < searched.found.counted < searched.found.candidates
    assert not searched.found.is_complete
