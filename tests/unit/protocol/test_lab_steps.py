"""Steps 2 to 5 over small labs whose every figure can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tare.lab.states import QatCState
from tare.measure.records import Outcome as Ended
from tare.protocol import run_protocol
from tare.protocol.fewer import Fewer, fewer
from tare.protocol.outcome import Outcome
from tare.protocol.ttp1.regression import from_sums
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import elapsed, machine, process, qe


def used(ticks: int, count: int = 10, timed_out: int = 0, **more: Any) -> RecordedQatC:
    """A Q@C whose QEs each used so many user ticks; the last ones timed out."""

    def one(i: int) -> Any:
        outcome = Ended.TIMEOUT if i >= count - timed_out else Ended.OK
        return qe(
            i, elapsed=elapsed(ticks * 10 + 5, 1), processes=(process(user_ticks=ticks, system_ticks=0),),
            machine=machine(user=ticks, system=0), outcome=outcome,
        )  # fmt: skip

    return RecordedQatC([one(i) for i in range(count)], **more)


def judged(*qatcs: RecordedQatC, name: str = "ttp2", **how: Any) -> Outcome:
    return run_protocol(lab_of(RecordedRun(list(qatcs))), name, **how)


def left(outcome: Outcome) -> list[tuple[str, int, int]]:
    return [(one.step, one.qes, one.qatcs) for one in outcome.remaining]


def times(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.times is not None
    rows: list[dict[str, Any]] = outcome.times.order_by("qatc_id").to_pyarrow().to_pylist()
    return rows


def test_table_xiii_each_sub_step_shows_what_it_leaves() -> None:
    varying = RecordedQatC([*used(100, 5).qes, *used(10, 5).qes], query=1)
    outcome = judged(
        used(100),
        varying,
        used(1, query=2),
        used(100, timed_out=5, query=3),
        used(100, timed_out=10, query=4),
    )
    assert left(outcome) == [
        ("at start", 50, 5),
        ("after step 2", 35, 4),
        ("after step 3-(i)", 25, 3),
        ("after step 3-(ii)", 25, 3),
        ("after step 3-(iii)", 15, 2),
        ("after step 3-(iv)", 10, 1),
    ]
    assert [(row["step"], row["rule"]) for row in times(outcome)] == [
        (None, None),
        ("step 3-(i)", "excessive variation in query computation time"),
        ("step 3-(iii)", "measured time of two ticks or less"),
        ("step 3-(iv)", "too few QEs"),
        ("step 2", "no QE is left"),
    ]
    assert outcome.precision.retained_qatcs == pytest.approx(0.2)


def test_table_ii_fewer_qes_drop_more() -> None:
    frames = lab_of(RecordedRun([used(100), used(100, timed_out=3, query=1)]))
    assert fewer(frames, "ttp2") == (
        Fewer(10, 2, 0, 8.5),
        Fewer(9, 2, 0, 8.0),
        Fewer(8, 2, 0, 7.5),
        Fewer(7, 2, 0, 7.0),
    )
    assert fewer(frames, "ttp2", numbers=[10, 9], min_qes=8) == (Fewer(10, 2, 1, 10.0), Fewer(9, 2, 1, 9.0))


def test_a_query_that_is_faster_with_more_rows_is_marked_where_it_is_slower() -> None:
    rising = (used(50, cardinality=1000), used(40, cardinality=2000), used(60, cardinality=3000))
    outcome = judged(*rising)
    assert [(row["strict"], row["relaxed"]) for row in times(outcome)] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    strict, relaxed = outcome.post[1:3]
    assert (strict.value, strict.detail, relaxed.value) == (0.5, ("1 of 2",), 0.5)
    in_step_1 = {check.name: (check.judged, check.violations) for check in outcome.checks}
    assert in_step_1["strict monotonicity"] == (2, 1)


def test_another_plan_or_another_query_is_never_held_against_a_qatc() -> None:
    outcome = judged(
        used(50, cardinality=1000), used(40, cardinality=2000, plan="b"), used(30, cardinality=3000, query=1)
    )
    assert outcome.post[1].value is None
    assert outcome.post[1].reason == "there is nothing to judge"


def test_a_small_step_down_is_within_the_relaxed_check() -> None:
    def spread(middle: int) -> list[Any]:
        ticks = (middle - 4, middle - 2, middle, middle, middle + 2, middle + 4)
        return [used(one, 1).qes[0] for one in ticks]

    outcome = judged(RecordedQatC(spread(101), cardinality=1000), RecordedQatC(spread(100), cardinality=2000))
    assert [(row["strict"], row["relaxed"]) for row in times(outcome)] == [(True, False), (False, False)]


def test_the_median_has_its_interval_from_six_qes_on() -> None:
    six = RecordedQatC([used(ticks, 1).qes[0] for ticks in (100, 101, 102, 103, 104, 105)])
    (row,) = times(judged(six))
    assert (row["time_ms"], row["low_ms"], row["high_ms"]) == (1025, 1000, 1050)
    five = RecordedQatC(six.qes[:5])
    (row,) = times(judged(five, min_qes=5))
    assert (row["time_ms"], row["low_ms"], row["high_ms"]) == (1020, None, None)


def test_the_measured_time_differs_from_the_calculated_by_what_is_told() -> None:
    outcome = judged(used(100))  # 1005 ms measured, 1000 calculated
    retained, dropped, resting = outcome.post[3:]
    assert retained.value == pytest.approx(5 / 1005)
    assert (dropped.value, dropped.reason) == (None, "no such Q@C has both times")
    assert resting.value == len(resting.detail) == 25  # all QEs are alike


@pytest.mark.parametrize(("dbms", "ms"), [("mariadb", 107), ("mysql", 107), ("postgresql", 1_100)])
def test_a_thread_of_the_server_that_waits_for_blocks_of_its_own_is_not_the_query(
    dbms: str, ms: float
) -> None:
    """The process's account shows 1 s, that of the thread that answers 7 ms."""
    own = elapsed(108, 100, block_io_ns=7_000_000, sleep_ns=0, residue_ns=0)
    server = {"run_ns": 100_000_000, "block_io_ns": 1_000_000_000}
    qes = [qe(i, elapsed=own, processes=(process(**server),), machine=machine()) for i in range(10)]
    lab = lab_of(RecordedRun([RecordedQatC(qes)], dbms=dbms))
    [found] = times(run_protocol(lab, "exact", accept=["all"]))
    assert found["time_ms"] == pytest.approx(ms)


@pytest.mark.parametrize("name", ["ttp1", "ttp2", "exact"])
def test_a_run_without_qes_has_no_times_and_says_what_is_missing(name: str) -> None:
    pending = RecordedQatC([], state=QatCState.PENDING)
    frames = lab_of(RecordedRun([pending], qes_per_qatc=10))
    outcome = run_protocol(frames, name, accept=["missing queries"])
    assert (outcome.checks[0].name, outcome.checks[0].violations) == ("missing queries", 10)
    assert {(one.qes, one.qatcs) for one in outcome.remaining} == {(0, 0)}
    assert times(outcome) == []
    assert outcome.precision.retained_qatcs is None
    assert {one.value for one in outcome.post[:5]} == {None}


class TestTTPv1:
    def test_mysql_may_show_a_hundredth_of_its_user_ticks_in_iowait(self) -> None:
        def waiting(iowait: int) -> RecordedQatC:
            return RecordedQatC(
                [
                    qe(i, elapsed=elapsed(2500, 1), processes=(process(user_ticks=200, system_ticks=0),),
                       machine=machine(user=200, system=0, iowait=iowait))
                    for i in range(10)
                ],
                query=iowait,
            )  # fmt: skip

        run = RecordedRun([waiting(2), waiting(3)], dbms="mysql")
        outcome = run_protocol(lab_of(run), "ttp1")
        assert [row["retained"] for row in times(outcome)] == [True, False]
        assert outcome.coefficients == {"mysql": {"b": 0.0}}
        assert times(outcome)[0]["time_ms"] == 2000

    def test_a_regressor_that_never_varies_gets_no_say(self) -> None:
        points = [(10, 5), (20, 7), (30, 9)]
        names = ("query_user_ticks", "query_maj_faults", "utility_maj_faults", "daemon_maj_faults")
        sums = {"n": 3, "overall_iowait": 21, "query_user_ticks": 60}
        sums |= dict.fromkeys(names[1:], 3)
        sums |= {
            "overall_iowait*overall_iowait": sum(y * y for _, y in points),
            "overall_iowait*query_user_ticks": sum(x * y for x, y in points),
            "query_user_ticks*query_user_ticks": sum(x * x for x, _ in points),
        }
        for one in names[1:]:
            sums |= {f"overall_iowait*{one}": 21, f"query_user_ticks*{one}": 60}
            sums |= {f"{one}*{two}": 3 for two in names[1:]}
        found = from_sums(sums)
        assert (found["a"], found["b"], found["c"], found["e"]) == pytest.approx((3, 0.2, 0, 0))
        assert found["variance_explained"] == pytest.approx(1)
