"""The order of windows, and how time is spent. Functions are numbers; what is beneath what is in `test_refine`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tare.profile import told
from tare.profile.costs import Price
from tare.profile.refine import Step
from tare.profile.request import Asked
from tare.profile.session import Made, NoTransactions, Session
from tare.protocol.profile.found import Estimate
from tests.unit.profile.doubles import (
    MEAN_NS,
    Clock,
    NoReader,
    NoRecorder,
    Script,
    Set,
    recording,
    transactions,
)

PAIR_NS = 5_000.0


@dataclass
class Played:
    made: Made
    sets: list[Set]
    recorder: NoRecorder
    clock: Clock
    script: Script
    heard: list[told.Told]

    def of(self, purpose: str) -> list[Set]:
        return [one for one in self.sets if one.purpose == purpose]

    def watched(self) -> list[tuple[int, ...]]:
        """Of each round, once."""
        return list(dict.fromkeys(one.watched for one in self.of("probed")))


def play(
    *steps: Step,
    calls: Mapping[int, float] | None = None,
    refused: Mapping[int, str] | None = None,
    asked: Asked | None = None,
    latency: Estimate | None = None,
    ends_at: float = float("inf"),
    none_until: float = 0.0,
    ramps_until: float | None = None,
    swings: bool = False,
    few_until: float = 0.0,
    interrupt: Callable[[told.Told], bool] = lambda event: False,
) -> Played:
    clock = Clock()
    recorder = NoRecorder(clock, dict.fromkeys(range(2, 50), 1.0) | dict(calls or {}), refused or {})
    recorder.ends_at = ends_at
    heard: list[told.Told] = []
    script = Script(list(steps or (step(2, 3),)))

    def hear(event: told.Told) -> None:
        heard.append(event)
        if interrupt(event):
            raise KeyboardInterrupt

    session = Session(
        recording(recorder, clock),
        transactions(),
        asked or Asked(duration_s=60.0),
        NoReader(
            recorder,
            clock,
            latency,
            none_until=none_until,
            ramps_until=ramps_until,
            swings=swings,
            few_until=few_until,
        ),
        script,
        hear,
        price=Price(PAIR_NS),
        name_of=lambda number: f"f{number}",
        batch=4,
    )
    made = session.run(wait_s=30.0)
    return Played(made, recorder.sets, recorder, clock, script, heard)


def step(*watch: int, too_hot: Sequence[int] = ()) -> Step:
    return Step(watch, f"round of {watch}", too_hot=tuple(too_hot))


# Windows ---------------------------------------------------------------------------------
def test_it_looks_then_counts_then_probes() -> None:
    purposes = [one.purpose for one in play().sets if one.purpose != "resting"]
    assert purposes[:2] == ["markers", "counting"]
    assert set(purposes[2:]) == {"probed", "markers"}


def test_windows_with_and_without_probes_take_turns_and_each_pair_is_turned_about() -> None:
    windows = [one.purpose for one in play().sets if one.round == 1 and one.purpose in ("probed", "markers")]
    pairs = list(zip(windows[::2], windows[1::2], strict=True))
    assert all(set(pair) == {"probed", "markers"} for pair in pairs)
    half = len(pairs) // 2  # the rest are of the time that was left over, which draws its order anew
    assert all(pair != following for pair, following in itertools.pairwise(pairs[:half]))


def test_the_order_of_the_first_pair_is_drawn_from_the_seed() -> None:
    first = {
        next(one.purpose for one in play(asked=Asked(seed=seed)).sets if one.round == 1) for seed in range(8)
    }
    assert first == {"probed", "markers"}


def test_windows_of_markers_watch_nothing_else() -> None:
    assert all(not one.watched for one in play().of("markers"))


def test_nothing_is_measured_while_we_work_ourselves() -> None:
    played = play(step(2), step(2, 3))
    after = [b.purpose for a, b in itertools.pairwise(played.sets) if a.purpose == "counting"]
    assert "resting" in after
    assert played.sets[-1].purpose == "resting"


def test_a_function_that_no_probe_fits_is_named_and_not_tried_again() -> None:
    played = play(step(2, 3), refused={3: "it begins with a jump"})
    assert played.made.refused == {3: "it begins with a jump"}
    assert played.watched() == [(2,)]


# Counting --------------------------------------------------------------------------------
def test_calls_are_counted_in_batches_and_each_function_once() -> None:
    played = play(step(*range(2, 12)), step(*range(2, 14)))
    counted = [one.watched for one in played.of("counting")]
    assert [len(one) for one in counted] == [4, 4, 2, 2]
    assert sorted(number for one in counted for number in one) == list(range(2, 14))


def test_the_strategy_is_told_calls_per_transaction_the_price_and_the_mean() -> None:
    (costs, *_) = play(step(2, 3), calls={2: 7.0, 3: 0.0}).script.costs
    assert costs.calls == pytest.approx({2: 7.0, 3: 0.0}, rel=0.02)
    assert costs.of(2) == pytest.approx(7 * PAIR_NS / MEAN_NS, rel=0.02)


def test_a_price_that_the_windows_rule_out_is_replaced_by_what_they_show() -> None:
    played = play(step(2), step(2, 3), latency=Estimate(0.01, 0.008, 0.012), calls={2: 10.0})
    assert played.made.price is not None
    assert played.made.price.measured
    assert played.script.costs[1].pair_ns == pytest.approx(0.008 * MEAN_NS / 10, rel=0.02)


def test_what_was_too_hot_is_said() -> None:
    played = play(step(2, too_hot=[9]), step(2, 3, too_hot=[9, 10]))
    assert played.made.left_out == [9, 10]
    (counted,) = [one for one in played.heard if isinstance(one, told.Counted)]
    assert counted.left_out == ("f9",)


def test_what_found_room_later_was_not_left_out() -> None:
    played = play(step(2, too_hot=[3, 9]), step(2, 3, too_hot=[9]))
    assert played.made.left_out == [9]


# Rounds and time -------------------------------------------------------------------------
def test_rounds_go_on_while_there_is_something_to_divide() -> None:
    played = play(step(2), step(2, 5), step(5, 6))
    assert [one.watched for one in played.made.rounds] == [(2,), (2, 5), (5, 6)]
    assert [one.added for one in played.made.rounds] == [(2,), (5,), (6,)]
    assert played.made.ended == "nothing is left"


def test_time_that_refinement_leaves_over_goes_to_the_last_round() -> None:
    played = play(step(2))
    assert 55 <= played.clock.now <= 70
    assert {one.round for one in played.of("probed")} == {1}


def test_all_rounds_together_take_the_time_that_was_asked_for() -> None:
    steps = [step(*range(2, 3 + number)) for number in range(1, 9)]
    played = play(*steps, asked=Asked(duration_s=90.0, rounds=6))
    assert len(played.made.rounds) == 6
    assert 85 <= played.clock.now <= 97
    assert played.made.ended == "the rounds that were asked for are made"


def test_the_last_round_is_the_longest() -> None:
    played = play(step(2), step(2, 3), step(2, 3, 4), asked=Asked(rounds=3))
    seconds = [one.seconds for one in played.made.rounds]
    assert seconds[-1] == max(seconds) > 1.5 * seconds[0]


def test_the_time_begins_with_the_first_transaction() -> None:
    assert play(none_until=20.0).clock.now >= 60.0 + 20.0


def test_without_a_load_it_waits_and_then_says_what_to_do() -> None:
    with pytest.raises(NoTransactions, match="no transaction ended in 3"):
        play(none_until=1e9)


def test_a_round_goes_on_while_it_holds_too_few_transactions() -> None:
    played = play(step(2), step(2, 3), few_until=20.0)
    assert [one.number for one in played.made.rounds] == [1, 2]
    second = next(one.at for one in played.of("probed") if one.round == 2)
    assert second > 20.0


def test_too_few_transactions_to_the_end_are_said() -> None:
    played = play(few_until=1e9)
    assert played.made.ended == "the profile holds no valid transaction"
    assert played.clock.now > 50.0, "the time that was asked for was waited"


def test_under_another_load_calls_are_counted_anew_and_refinement_begins_again() -> None:
    """As where the load's driver looks at the data first, and then sends."""
    played = play(step(2), step(4), step(4, 5), ramps_until=6.5)
    assert played.script.forgot == 1
    assert [one.watched for one in played.made.rounds] == [(2,), (4,), (4, 5)]
    assert played.made.rounds[1].added == (4,)
    assert "begins anew" in played.made.notes[0]
    assert sum(isinstance(one, told.Counted) for one in played.heard) == 2


def test_a_load_that_swings_is_taken_as_it_is_after_the_second_time() -> None:
    played = play(*(step(2, number) for number in range(3, 9)), asked=Asked(rounds=6), swings=True)
    assert played.script.forgot == 2


# Ends ------------------------------------------------------------------------------------
def test_ctrl_c_ends_the_round_and_keeps_it() -> None:
    played = play(interrupt=lambda event: isinstance(event, told.Window) and event.number == 3)
    assert played.made.stopped_by is not None
    assert played.made.ended == "interrupted"
    assert [one.number for one in played.made.rounds] == [1]
    assert played.recorder.stopped == 1


def test_a_server_that_ends_leaves_what_was_made_until_then() -> None:
    played = play(ends_at=20.0)
    assert "the server ended in mid-run" in played.made.notes[0]
    assert played.made.rounds
    assert played.recorder.stopped == 1
