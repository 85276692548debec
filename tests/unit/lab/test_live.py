"""Reads of an observer: the newest rows of a run, and counts that agree with those of all rows."""

from __future__ import annotations

from tare.lab.live import RunCounts, run_counts, run_live
from tare.lab.states import QatCState
from tare.lab.store import Lab
from tests.unit.lab.filling import INDEX, begun, whole_run


def test_a_whole_run_is_counted_and_its_newest_rows_come_first(lab: Lab) -> None:
    run_id = whole_run(lab)
    counts = RunCounts(recorded=6, visited=4, timed=2, failed=0, queries=2, missing=0)
    assert run_counts(lab, [run_id]) == {run_id: counts}
    live = run_live(lab, run_id)
    assert [one.order for one in live.executions] == [5, 4, 3, 2, 1, 0]
    assert [(one.query, one.state, len(one.wall_ns)) for one in live.qatcs] == [
        ("second", QatCState.TIMED, 3),
        ("first", QatCState.TIMED, 3),
    ]
    assert [(one.name, one.visited, one.timed, one.plans, one.smallest) for one in live.queries] == [
        ("first", 2, 1, 1, 90),
        ("second", 2, 1, 1, 90),
    ]
    assert len(live.pace_s) == 1


def test_a_run_without_an_execution_shows_its_queries(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    live = run_live(lab, run_id)
    assert (live.executions, live.pace_s, live.runners) == ([], [], [])
    assert [one.name for one in live.queries] == ["first", "second"]
    assert run_counts(lab, [run_id]) == {run_id: RunCounts(queries=2)}


def test_only_the_last_attempt_of_a_qatc_is_estimated(lab: Lab) -> None:
    run_id = whole_run(lab)
    recorder, other, qatc_id = begun(lab, name="other")
    recorder.restart(qatc_id, INDEX)
    assert len(run_live(lab, run_id).qatcs) == 2
    assert [one.wall_ns for one in run_live(lab, other).qatcs] == [()]


def test_ticks_are_of_the_machine_and_leave_guests_out(lab: Lab) -> None:
    run_id = whole_run(lab)
    for one in run_live(lab, run_id).executions:
        assert one.ticks is not None
        assert one.busy_ticks is not None
        assert 0 <= one.busy_ticks <= one.ticks
