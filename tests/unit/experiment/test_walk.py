"""Next steps of a walk, by what was seen: a walk that is repeated from any point of a run continues where it was."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from tare.experiment.scenario.base import Range, Scenario, listed
from tare.experiment.scenario.exhaustive import Exhaustive
from tare.experiment.scenario.onepass import OnePass
from tare.experiment.walk import QatC, QueryWalk, next_halt, tally
from tare.lab.states import QatCState

RANGE = Range(maximum=500, minimum=100, step=100)
QES = 3


def walk(number: int = 0) -> QueryWalk:
    return QueryWalk(number, number, f"q{number}", "SELECT 1")


def come_to(one: QueryWalk, scenario: Scenario, cardinality: int, plan: str) -> QatC:
    timed = scenario.is_timed(plan, one.seen())
    state = QatCState.PENDING if timed else QatCState.SAME_PLAN
    one.visits.append(QatC(0, len(one.visits), cardinality, plan, state))
    return one.visits[-1]


def test_all_queries_halt_together_at_the_largest_cardinality_first() -> None:
    walks = [walk(0), walk(1)]
    halts = []
    while (halt := next_halt(walks, Exhaustive(), RANGE)) is not None:
        halts.append((halt.cardinality, [one.number for one in halt.queries]))
        for one in halt.queries:
            come_to(one, Exhaustive(), halt.cardinality, "p").state = QatCState.TIMED
    assert halts == [(cardinality, [0, 1]) for cardinality in (500, 400, 300, 200, 100)]


def test_queries_of_one_setting_halt_together_before_those_of_the_next() -> None:
    """The tables are organised anew as seldom as can be."""
    walks = [walk(0), walk(1), walk(2)]
    settings = {"q0": "heap", "q1": "indexed", "q2": "heap"}
    halts = []
    while (halt := next_halt(walks, Exhaustive(), listed([10, 1000]), settings.__getitem__)) is not None:
        halts.append((halt.cardinality, halt.setting, [one.number for one in halt.queries]))
        for one in halt.queries:
            come_to(one, Exhaustive(), halt.cardinality, "p").state = QatCState.TIMED
    assert halts == [
        (1000, "heap", [0, 2]),
        (1000, "indexed", [1]),
        (10, "heap", [0, 2]),
        (10, "indexed", [1]),
    ]


def test_listed_cardinalities_are_walked_from_the_largest_each_once() -> None:
    sizes = listed([10_000, 1_000_000, 10_000, 100_000])
    assert list(sizes.cardinalities) == [1_000_000, 100_000, 10_000]
    assert (sizes.maximum, sizes.minimum) == (1_000_000, 10_000)


def test_one_pass_times_a_query_only_where_its_plan_is_another_than_before() -> None:
    one = walk()
    plans = {500: "a", 400: "a", 300: "b", 200: "b", 100: "a"}
    while (halt := next_halt([one], OnePass(), RANGE)) is not None:
        qatc = come_to(one, OnePass(), halt.cardinality, plans[halt.cardinality])
        qatc.state = QatCState.TIMED if qatc.timed else QatCState.SAME_PLAN
    assert [v.cardinality for v in one.visits if v.timed] == [500, 300, 100]


def test_a_qatc_whose_qes_are_not_complete_comes_before_the_next_cardinality() -> None:
    behind, ahead = walk(0), walk(1)
    come_to(behind, Exhaustive(), 500, "p").done = {1, 3}
    come_to(ahead, Exhaustive(), 500, "p").state = QatCState.TIMED
    halt = next_halt([behind, ahead], Exhaustive(), RANGE)
    assert halt is not None
    assert (halt.cardinality, halt.queries) == (500, (behind,))
    assert behind.visits[0].next_number(QES) == 2


def test_a_query_that_is_missing_on_this_dbms_does_not_hold_the_others_up() -> None:
    missing, other = walk(0), walk(1)
    missing.error = "no such function"
    halt = next_halt([missing, other], Exhaustive(), RANGE)
    assert halt is not None
    assert halt.queries == (other,)
    assert next_halt([missing], Exhaustive(), RANGE) is None


def test_a_query_has_worked_once_a_qe_of_it_has_ended() -> None:
    one = walk()
    qatc = come_to(one, Exhaustive(), 500, "p")
    assert not one.has_worked
    qatc.done.add(1)
    assert one.has_worked


def test_the_tally_plans_nothing_more_for_a_missing_query() -> None:
    able, missing = walk(0), walk(1)
    missing.error = "why"
    come_to(able, Exhaustive(), 500, "p").state = QatCState.TIMED
    come_to(able, Exhaustive(), 400, "p").done = {1, 2}
    counted = tally([able, missing], RANGE)
    assert (counted.planned, counted.visited, counted.timed, counted.qes) == (5, 1, 1, 2)
    assert counted.missing == ("q1",)


@given(
    plans=st.lists(st.lists(st.sampled_from("abc"), min_size=5, max_size=5), min_size=1, max_size=4),
    cut=st.lists(st.booleans(), min_size=400, max_size=400),
    one_pass=st.booleans(),
)
def test_a_run_cut_anywhere_does_what_an_uncut_run_does(
    plans: list[list[str]], cut: list[bool], one_pass: bool
) -> None:
    """Between any two steps the state may be thrown away and made again from its record."""
    scenario: Scenario = OnePass() if one_pass else Exhaustive()

    def steps(cuts: list[bool]) -> list[tuple[int, int, int]]:
        walks = [walk(number) for number in range(len(plans))]
        done: list[tuple[int, int, int]] = []
        while (halt := next_halt(walks, scenario, RANGE)) is not None:
            for one in halt.queries:
                plan = plans[one.number][len(RANGE.cardinalities) - halt.cardinality // 100]
                qatc = one.pending or come_to(one, scenario, halt.cardinality, plan)
                while qatc.timed and (number := qatc.next_number(QES)) is not None:
                    qatc.done.add(number)
                    done.append((one.number, halt.cardinality, number))
                    if cuts and cuts.pop():
                        break
                if qatc.timed and qatc.next_number(QES) is None:
                    qatc.state = QatCState.TIMED
                if cuts and cuts.pop():
                    walks = copy.deepcopy(walks)
                    break
        return sorted(done)

    whole = steps([])
    assert len(set(whole)) == len(whole)
    assert steps(list(cut)) == whole
