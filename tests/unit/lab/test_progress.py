"""An executor that goes on knows what is done, and counts only what counts."""

from __future__ import annotations

import pytest

from tare.errors import NoSuchRun
from tare.lab.progress import progress, runs
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab
from tare.measure.records import Outcome
from tests.unit.lab.filling import INDEX, SCAN, begun, whole_run
from tests.unit.protocol.qe_records import qe


def test_a_fresh_run_has_all_before_it(lab: Lab) -> None:
    _, run_id, qatc_id = begun(lab)
    found = progress(lab, run_id)
    assert [(query.number, query.name, query.sql) for query in found.queries] == [
        (0, "first", "SELECT 1"),
        (1, "second", "SELECT 2"),
    ]
    (visit,) = found.queries[0].visits
    assert (visit.qatc_id, visit.cardinality, visit.state) == (qatc_id, 100, QatCState.PENDING)
    assert (visit.plan_fingerprint, visit.timed, visit.attempt) == (SCAN.fingerprint, True, 1)
    assert (visit.done, visit.answer, found.next_run_order) == (frozenset(), None, 0)


def test_only_qes_of_the_last_attempt_that_count_are_done(lab: Lab) -> None:
    recorder, run_id, qatc_id = begun(lab)
    recorder.record(qatc_id, 1, None, qe(0, warmup=True))
    recorder.record(qatc_id, 1, 1, qe(1))
    recorder.restart(qatc_id, INDEX)
    recorder.record(qatc_id, 2, 1, qe(2, outcome=Outcome.FAILED))
    recorder.record(qatc_id, 2, 1, qe(3))
    recorder.record(qatc_id, 2, 2, qe(4, outcome=Outcome.TIMEOUT))
    recorder.record(qatc_id, 2, 3, qe(5, outcome=Outcome.PLAN_CHANGED))
    found = progress(lab, run_id)
    (visit,) = found.queries[0].visits
    assert (visit.attempt, visit.done, visit.plan_fingerprint) == (2, frozenset({1, 2}), INDEX.fingerprint)
    assert found.next_run_order == 6
    assert runs(lab)[0].qes == 2


def test_the_answer_to_compare_with_is_that_of_the_first_qe_that_ended_well(lab: Lab) -> None:
    recorder, run_id, qatc_id = begun(lab)
    recorder.record(qatc_id, 1, 1, qe(0, outcome=Outcome.TIMEOUT, row_count=None, answer_hash=None))
    recorder.record(qatc_id, 1, 2, qe(1, row_count=7, answer_hash="beef"))
    recorder.record(qatc_id, 1, 3, qe(2, row_count=8, answer_hash="cafe"))
    assert progress(lab, run_id).queries[0].visits[0].answer == (7, "beef")


def test_visits_come_in_the_order_of_the_walk(lab: Lab) -> None:
    recorder, run_id, _ = begun(lab)
    query = progress(lab, run_id).queries[0].id
    recorder.visit(query, 1, 90, SCAN, timed=False)
    recorder.visit(query, 2, 80, INDEX, timed=True)
    visits = progress(lab, run_id).queries[0].visits
    assert [(one.cardinality, one.timed) for one in visits] == [(100, True), (90, False), (80, True)]
    assert visits[1].state is QatCState.SAME_PLAN


def test_lists_count_what_is_there_and_what_failed(lab: Lab) -> None:
    whole_run(lab)
    recorder, run_id, qatc_id = begun(lab)
    recorder.fail_qatc(qatc_id, "why")
    recorder.fail_query(progress(lab, run_id).queries[1].id, "why")
    done, failed = runs(lab)
    assert (done.run.state, done.queries, done.qatcs, done.timed_qatcs, done.qes) == (
        RunState.DONE, 2, 4, 2, 6,
    )  # fmt: skip
    assert (failed.failed_queries, failed.qatcs, failed.timed_qatcs, failed.failed_qatcs) == (1, 1, 0, 1)
    assert failed.qes == 0


def test_an_empty_lab_has_no_runs(lab: Lab) -> None:
    assert runs(lab) == []
    with pytest.raises(NoSuchRun):
        progress(lab, 1)
