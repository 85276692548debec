"""The order of windows, and how time is spent. Functions are numbers; what is beneath what is in `test_refine`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tare._probe import ProbeError
from tare.errors import UsageError
from tare.profile import told
from tare.profile.costs import Price
from tare.profile.ending import Ending
from tare.profile.first_look import MOMENT_S, FirstLook, NoTransactions
from tare.profile.made import Made
from tare.profile.refine import Step
from tare.profile.request import Asked
from tare.profile.session import Session
from tare.profile.windows import LEAST_PAIRS
from tare.protocol.profile.found import Counter, Estimate, MarkersLoss
from tare.protocol.profile.loss import Activity
from tests.unit.profile.doubles import (
    MEAN_NS,
    RATE,
    Clock,
    NoFunctions,
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
    activity: Mapping[int, Activity]  # by window

    def of(self, purpose: str) -> list[Set]:
        return [one for one in self.sets if one.purpose == purpose]

    def watched(self) -> list[tuple[int, ...]]:
        """Watched functions of each round, once."""
        return list(dict.fromkeys(one.watched for one in self.of("probed")))


NOTHING_LEFT = Step((2,), "nothing is left", ending=Ending.REFINED)


def play(
    *steps: Step,
    calls: Mapping[int, float] | None = None,
    refused: Mapping[int, str] | None = None,
    asked: Asked | None = None,
    latency: Estimate | None = None,
    ends_at: float = float("inf"),
    refuses_at: float = float("inf"),
    none_until: float = 0.0,
    ramps_until: float | None = None,
    swings: bool = False,
    few_until: float = 0.0,
    slowed: Callable[[tuple[int, ...]], float] = lambda watched: 1.0,
    stalls_at: float = float("inf"),
    set_s: float = 0.0,
    interrupt: Callable[[told.Told], bool] = lambda event: False,
    compares: bool = False,
    markers: MarkersLoss | Callable[[int], MarkersLoss] | None = None,
    mean_ns: float = MEAN_NS,
    search_cpu_s: float = 0.0,
    busy: float = 0.0,
) -> Played:
    clock = Clock()
    recorder = NoRecorder(clock, dict.fromkeys(range(2, 50), 1.0) | dict(calls or {}), refused or {})
    recorder.ends_at, recorder.refuses_at = ends_at, refuses_at
    recorder.set_s = set_s
    heard: list[told.Told] = []
    script = Script(list(steps or (step(2, 3),)), cpu_s=search_cpu_s)

    def hear(event: told.Told) -> None:
        heard.append(event)
        if interrupt(event):
            raise KeyboardInterrupt

    windows, request = recording(recorder, clock, lambda: script.spent_s), asked or Asked(duration_s=60.0)
    reader = NoReader(
        recorder,
        clock,
        latency,
        none_until=none_until,
        ramps_until=ramps_until,
        swings=swings,
        few_until=few_until,
        slowed=slowed,
        stalls_at=stalls_at,
        markers=markers,
        mean_ns=mean_ns,
        busy=busy,
    )
    first_look = FirstLook(
        windows,
        reader,
        transactions(),
        NoFunctions(),  # type: ignore[arg-type]
        request,
        Price(PAIR_NS),
        hear,
        cpus=2,
        compares=compares,
    )
    session = Session(
        windows,
        request,
        reader,
        first_look,
        script,
        hear,
        price=Price(PAIR_NS),
        compares=compares,
        name_of=lambda number: f"f{number}",
        batch=4,
    )
    made = session.run(wait_s=30.0)
    return Played(made, recorder.sets, recorder, clock, script, heard, windows.activity)


def step(*watch: int, too_hot: Sequence[int] = ()) -> Step:
    return Step(watch, f"round of {watch}", too_hot=tuple(too_hot))


# Windows ---------------------------------------------------------------------------------
def test_it_looks_then_counts_then_probes() -> None:
    purposes = [one.purpose for one in play().sets if one.purpose != "resting"]
    assert purposes[:2] == ["markers", "counting"]
    assert set(purposes[2:-1]) == {"probed", "markers"}
    assert purposes[-1] == "after"


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


def test_a_function_that_is_called_very_often_is_counted_for_a_glance() -> None:
    """RATE transactions a second with 10,000 calls each, of half of 5 us: 250% of a CPU."""
    played = play(step(2, 3, 4), calls={3: 10_000.0})
    counted = played.of("counting")
    assert [one.watched for one in counted] == [(2, 3, 4), (2, 4)]
    assert counted[1].at - counted[0].at < 0.2
    assert played.script.costs[0].calls == pytest.approx({2: 1.0, 3: 10_000.0, 4: 1.0}, rel=0.05)


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
    assert 55 <= played.clock.now <= 64
    assert {one.round for one in played.of("probed")} == {1}


def test_refinement_goes_on_where_functions_appear_after_it_has_ended() -> None:
    played = play(step(2), NOTHING_LEFT, step(2, 3))
    assert played.watched() == [(2,), (2, 3)]
    assert played.made.ending is Ending.REFINED
    pairs = [one.watched for one in played.of("probed")]
    assert pairs.count((2,)) < pairs.count((2, 3)), "what is new is not kept waiting"


def test_functions_that_appear_in_the_last_round_begin_no_other() -> None:
    assert play(step(2), NOTHING_LEFT, step(2, 3), asked=Asked(rounds=1)).watched() == [(2,)]


def test_all_rounds_together_take_the_time_that_was_asked_for() -> None:
    steps = [step(*range(2, 3 + number)) for number in range(1, 9)]
    played = play(*steps, asked=Asked(duration_s=90.0, rounds=6))
    assert len(played.made.rounds) == 6
    assert 85 <= played.clock.now <= 93
    assert played.made.ending is Ending.ROUNDS


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
    """The load changes, as where its driver looks at the data first, and then sends."""
    played = play(step(2), step(4), step(4, 5), ramps_until=6.5)
    assert played.script.forgot == 1
    assert [one.watched for one in played.made.rounds] == [(2,), (4,), (4, 5)]
    assert played.made.rounds[1].added == (4,)
    assert "begins anew" in played.made.notes[0]
    assert sum(isinstance(one, told.Counted) for one in played.heard) == 2


def test_a_load_that_swings_is_taken_as_it_is_after_the_second_time() -> None:
    played = play(*(step(2, number) for number in range(3, 9)), asked=Asked(rounds=6), swings=True)
    assert played.script.forgot == 2


# Windows without any probe -----------------------------------------------------------------
LITTLE = MarkersLoss(Estimate(0.02, 0.01, 0.03), Counter.WAITS, 4)


def test_markers_are_counted_before_they_are_timed_and_then_compared_with_no_probe() -> None:
    purposes = [one.purpose for one in play(compares=True, markers=LITTLE).sets if one.round == 0]
    assert purposes[0] == "counting"
    assert purposes[1:9] == ["bare", "markers", "markers", "bare"] * 2
    assert purposes[9] == "resting"


def test_each_group_of_a_round_holds_all_three_kinds_of_windows() -> None:
    played = play(compares=True, markers=LITTLE)
    windows = [
        one.purpose for one in played.sets if one.round == 1 and one.purpose in ("bare", "probed", "markers")
    ]
    groups = [windows[place : place + 3] for place in range(0, len(windows), 3)]
    assert all(set(group) == {"bare", "probed", "markers"} for group in groups)


def test_markers_that_come_too_often_are_timed_for_moments_and_refused() -> None:
    """A hundred entries of 5 us a second would be nothing; transactions of 10 us make 100,000 of them."""
    much = MarkersLoss(Estimate(0.6, 0.5, 0.7), Counter.USER_TIME, 4)
    with pytest.raises(
        UsageError, match=r"takes 60% of the throughput \(50% to 70%\); at most 15%"
    ) as refused:
        play(compares=True, markers=much, mean_ns=10_000.0)
    assert "f8, f9" in refused.value.next_step
    assert "--peak" in refused.value.next_step


def test_markers_are_not_refused_on_an_interval_alone_that_says_nothing() -> None:
    wide = MarkersLoss(Estimate(0.3, -0.2, 0.6), Counter.WAITS, 4)
    assert play(compares=True, markers=wide).made.rounds


def test_a_figure_that_no_price_explains_refuses_nothing() -> None:
    """5 us of 10 ms, and a load that fell while the markers were on."""
    fell = MarkersLoss(Estimate(0.3, 0.2, 0.4), Counter.WAITS, 4)
    assert play(compares=True, markers=fell).made.rounds


def test_markers_that_may_be_too_hot_are_looked_at_for_longer() -> None:
    """Four pairs say 19% (1% to 33%), of 15% that are allowed; eight pairs say that it is less."""
    unsure = MarkersLoss(Estimate(0.19, 0.01, 0.33), Counter.USER_TIME, 4)

    def found(pairs: int) -> MarkersLoss:
        return LITTLE if pairs > 4 else unsure

    played = play(compares=True, markers=found)
    assert len([one for one in played.of("bare") if one.round == 0]) == 8
    assert played.made.rounds


def test_markers_that_turn_out_too_hot_end_the_profile_after_the_first_pairs() -> None:
    """The first look says 19% (1% to 33%), the windows of the first round 46% (27% to 58%)."""

    def found(pairs: int) -> MarkersLoss:
        early = pairs <= 12
        figure = Estimate(0.19, 0.01, 0.33) if early else Estimate(0.46, 0.27, 0.58)
        return MarkersLoss(figure, Counter.USER_TIME, pairs)

    made = (played := play(compares=True, markers=found)).made
    assert made.ending is Ending.HOT_MARKERS
    assert "46% of the throughput (27% to 58%)" in made.ended
    assert any("--peak" in note for note in made.notes)
    assert len([one for one in played.of("markers") if one.round == 1]) == LEAST_PAIRS
    assert played.clock.now - played.of("after")[0].at == pytest.approx(MOMENT_S, rel=0.01)


def test_what_a_server_did_before_its_load_came_stands_for_no_transaction() -> None:
    played = play(compares=True, markers=LITTLE, none_until=5.0)
    first = next(number for number, one in enumerate(played.sets) if one.at >= 5.0)
    assert min(played.activity) >= first - 1


def test_markers_are_counted_again_when_a_load_has_come() -> None:
    """An idle server's entries say nothing of what they will be."""
    played = play(compares=True, none_until=5.0)
    looks = [one.purpose for one in played.sets if one.round == 0]
    assert looks.count("counting") > looks[looks.index("resting") :].count("counting") >= 2
    with pytest.raises(UsageError, match="by arithmetic"):
        play(compares=True, none_until=5.0, mean_ns=10_000.0)


def test_where_the_kernel_counts_nothing_the_prediction_decides() -> None:
    with pytest.raises(UsageError, match=r"about 33% of the throughput, by arithmetic"):
        play(compares=True, mean_ns=10_000.0)
    assert play(compares=True, mean_ns=100_000.0).made.rounds


def test_dear_probes_are_on_for_a_part_of_the_time() -> None:
    """Markers that take 10% (at least 9%, which is nearer to what was counted), and functions that take 5%. Entries are
    counted without the markers, so more come in a second."""
    dear = MarkersLoss(Estimate(0.10, 0.09, 0.11), Counter.WAITS, 4)
    asked = Asked(duration_s=60.0, rounds=1)
    played = play(step(2), calls={2: 100.0 / 0.9}, compares=True, markers=dear, asked=asked)
    seconds = dict.fromkeys(("bare", "probed", "markers"), 0.0)
    for one, following in itertools.pairwise(played.sets):
        if one.round == 1 and one.purpose in seconds:
            seconds[one.purpose] += following.at - one.at
    assert 0.14 * seconds["probed"] + 0.09 * seconds["markers"] == pytest.approx(0.05 * 60, rel=0.05)
    assert seconds["probed"] / sum(seconds.values()) > 0.15


def test_the_search_ends_where_what_is_left_of_the_budget_goes_to_windows() -> None:
    """A search takes a second of CPU time, on CPUs that are busy: half a second of throughput, where 3 s may go."""
    asked = Asked(duration_s=60.0, rounds=50)
    steps = [step(2, number) for number in range(3, 40)]
    dear = play(*steps, compares=True, markers=LITTLE, asked=asked, search_cpu_s=1.0, busy=2.0)
    assert dear.made.ending is Ending.SPENT
    assert 2 <= len(dear.made.rounds) <= 5
    assert dear.clock.now > 55.0, "the rest of the time goes to the last round"
    idle = play(*steps, compares=True, markers=LITTLE, asked=asked, search_cpu_s=1.0, busy=0.0)
    assert len(idle.made.rounds) > 2 * len(dear.made.rounds)


# The budget ------------------------------------------------------------------------------
def hot(watched: tuple[int, ...]) -> float:
    """Function 3 lies within a lock that all wait for."""
    return 2.86 if 3 in watched else 1.01


def test_probes_that_cost_more_than_the_budget_are_let_go_after_two_pairs_the_dearest_first() -> None:
    played = play(step(2, 3, 4), calls={2: 0.01, 3: 40.0, 4: 0.02}, slowed=hot)
    assert played.watched() == [(2, 3, 4), (2, 4)]
    [shed] = played.made.shed
    assert (shed.round, shed.functions, shed.left) == (1, (3,), 2)
    assert shed.excess.pairs == 2
    assert shed.excess.added.value == pytest.approx(1.86, rel=0.05)
    assert sum(one.watched == (2, 3, 4) for one in played.of("probed")) == 2


def test_what_is_left_is_a_round_of_its_own_that_is_not_among_the_requested_ones() -> None:
    calls = {2: 0.01, 3: 40.0}
    played = play(step(2, 3), calls=calls, slowed=hot, asked=Asked(duration_s=60.0, rounds=1))
    assert [one.watched for one in played.made.rounds] == [(2, 3), (2,)]
    assert {one.round for one in played.of("probed") if one.watched == (2,)} == {2}
    assert played.made.ending is Ending.ROUNDS
    assert played.clock.now > 50.0


def test_probes_are_shed_again_where_those_that_are_left_still_cost_too_much() -> None:
    def both(watched: tuple[int, ...]) -> float:
        return 3.0 if 3 in watched else 1.5 if 2 in watched else 1.0

    played = play(step(2, 3, 4), calls={2: 0.8, 3: 40.0, 4: 0.05}, slowed=both)
    assert [one.functions for one in played.made.shed] == [(3,), (2,)]
    assert played.watched()[-1] == (4,)


def test_where_all_probes_are_let_go_the_session_stops_and_says_so() -> None:
    played = play(step(3), calls={3: 40.0}, slowed=hot)
    assert played.made.ending is Ending.BUDGET
    assert played.made.shed[0].left == 0
    assert played.clock.now < 20.0
    assert played.sets[-2].purpose == "after"


def test_the_price_that_an_excess_shows_holds_for_what_is_chosen_next() -> None:
    played = play(step(2, 3), step(2, 5), calls={2: 0.01, 3: 40.0}, slowed=hot)
    assert played.script.costs[-1].pair_ns > PAIR_NS


def test_probes_that_cost_no_more_than_the_budget_stay() -> None:
    played = play(step(2, 3), slowed=lambda watched: 1.03)
    assert played.made.shed == []


# Transactions that stop --------------------------------------------------------------------
def test_a_session_in_which_no_transaction_ends_any_more_takes_its_probes_off_at_once() -> None:
    played = play(stalls_at=20.0)
    assert played.made.ending is Ending.STALLED
    assert played.clock.now < 30.0
    assert played.recorder.stopped == 1
    assert played.made.rates.after == 0.0


def test_the_last_window_shows_that_transactions_still_end() -> None:
    rates = play(slowed=lambda watched: 1.02).made.rates
    assert rates.before == pytest.approx(RATE)
    assert rates.during == pytest.approx(RATE / 1.02, rel=0.02)
    assert rates.after == pytest.approx(RATE, rel=0.02)


# The requested time ------------------------------------------------------------------------
def test_a_session_ends_in_time_where_each_change_of_probes_takes_a_second() -> None:
    played = play(step(2), step(2, 3), asked=Asked(duration_s=28.0), set_s=1.0)
    assert played.clock.now <= 28.0 + 5.0, "the first look is not in the 28 s"


def test_rounds_that_watched_the_same_are_alike() -> None:
    assert play(step(2, 3), step(2), step(3, 2)).made.alike == (1, 3)


# Ends ------------------------------------------------------------------------------------
def test_ctrl_c_ends_the_round_and_keeps_it() -> None:
    played = play(interrupt=lambda event: isinstance(event, told.Window) and event.number == 3)
    assert played.made.stopped_by is not None
    assert played.made.ending is Ending.INTERRUPTED
    assert [one.number for one in played.made.rounds] == [1]
    assert played.recorder.stopped == 1


def test_a_server_that_ends_leaves_what_was_made_until_then() -> None:
    played = play(ends_at=20.0)
    assert played.made.ending is Ending.SERVER_ENDED
    assert played.made.rounds
    assert played.made.rates.before == pytest.approx(RATE)
    assert played.made.rates.after == 0.0
    assert played.recorder.stopped == 1


def test_probes_that_cannot_be_set_any_more_leave_what_was_made_until_then() -> None:
    whole = play(step(2, 3), step(2), step(4, 5))
    windows = [one.at for one in whole.of("probed") if one.round == 2]
    played = play(step(2, 3), step(2), step(4, 5), refuses_at=windows[len(windows) // 2])
    assert played.made.ending is Ending.REFUSED
    assert "the kernel refused" in played.made.ended
    assert "run as root" in played.made.notes[-1]
    assert played.made.findings is not None
    assert [one.number for one in played.made.rounds] == [1, 2]
    assert played.made.rates.after is None, "it was not looked at"
    assert played.recorder.stopped == 1


def test_probes_that_cannot_be_set_at_all_are_an_error() -> None:
    with pytest.raises(ProbeError, match="the kernel refused"):
        play(refuses_at=2.0)
