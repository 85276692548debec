"""Experiment-wide checks: each is found, stops the analysis, and can be accepted by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tare.dbms.base import Role
from tare.errors import UsageError
from tare.lab.frames import Frames
from tare.lab.states import QatCState
from tare.protocol import run_protocol
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import machine, process, qe


def clean(count: int = 10, **more: Any) -> RecordedQatC:
    return RecordedQatC([qe(i) for i in range(count)], **more)


def with_one(**changes: Any) -> Frames:
    """A clean run but for one QE."""
    qes = [qe(i) for i in range(10)]
    return lab_of(RecordedRun([RecordedQatC([*qes[:9], replace(qes[9], **changes)])]))


def _other(role: Role) -> tuple[Any, ...]:
    return (process(), process(8, role, comm="mariadb", user_ticks=1, system_ticks=0))


VIOLATIONS: dict[str, tuple[Callable[[], Frames], int]] = {
    "missing queries": (lambda: lab_of(RecordedRun([clean(), clean(7, cardinality=2000)])), 3),
    "unique plan": (lambda: with_one(plan_fingerprint="another"), 1),
    "underlying measure": (lambda: with_one(machine=None), 1),
    "derived measure": (lambda: with_one(processes=(process(maj_faults=-1),)), 1),
    "steal time": (lambda: with_one(machine=machine(steal=1)), 1),
    "guest time": (lambda: with_one(machine=machine(guest=1)), 1),
    "other query process": (lambda: with_one(processes=_other(Role.QUERY)), 1),
    "other utility process": (lambda: with_one(processes=_other(Role.UTILITY)), 1),
}


def found(frames: Frames, **how: Any) -> dict[str, int]:
    outcome = run_protocol(frames, "ttp2", **how)
    return {check.name: check.violations for check in outcome.checks[:8] if check.violations}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_is_found_alone_and_stops_the_analysis(name: str) -> None:
    make, count = VIOLATIONS[name]
    outcome = run_protocol(make(), "ttp2")
    assert {c.name: c.violations for c in outcome.checks[:8] if c.violations} == {name: count}
    assert outcome.stopped is not None
    assert f"{name}: {count} of" in outcome.stopped
    assert (outcome.remaining, outcome.post, outcome.times, outcome.exclusions) == ((), (), None, None)


def test_an_accepted_violation_stops_nothing_and_is_listed() -> None:
    outcome = run_protocol(with_one(machine=machine(steal=1)), "ttp2", accept=["steal time", "guest time"])
    assert (outcome.stopped, outcome.accepted) == (None, ("steal time",))
    assert outcome.remaining[-1].qatcs == 1


def test_accepting_one_does_not_accept_another() -> None:
    outcome = run_protocol(with_one(machine=machine(steal=1, guest=1)), "ttp2", accept=["steal time"])
    assert outcome.stopped is not None
    assert "guest time" in outcome.stopped
    assert "steal time" not in outcome.stopped


def test_a_check_that_there_is_not_cannot_be_accepted() -> None:
    with pytest.raises(UsageError, match="no experiment-wide check"):
        run_protocol(lab_of(RecordedRun([clean()])), "ttp2", accept=["stolen time"])


def test_an_accepted_lack_of_a_measure_drops_the_qe_for_it() -> None:
    outcome = run_protocol(with_one(machine=None), "ttp2", accept=["underlying measure"])
    assert outcome.exclusions is not None
    (row,) = outcome.exclusions.to_pyarrow().to_pylist()
    assert (row["rule"], row["qe_id"]) == ("underlying measure", 10)
    assert "overall_iowait" in row["evidence"]


def test_a_query_that_its_dbms_refused_is_missing_once_at_least() -> None:
    refused = lab_of(RecordedRun([clean()], errors={5: "no such function"}))
    assert found(refused) == {"missing queries": 10}


@pytest.mark.parametrize("name", ["ttp1", "ttp2", "exact"])
def test_a_query_that_its_dbms_cannot_run_leaves_the_others_their_times(name: str) -> None:
    refused = RecordedRun([clean()], errors={5: "no such function"})
    outcome = run_protocol(lab_of(refused), name)
    assert outcome.stopped is None
    assert outcome.times is not None
    assert outcome.times.count().to_pyarrow().as_py() == 1
    assert outcome.accepted == ("missing queries",)
    assert [one for one in outcome.deviations if "no such function" in one]


def test_a_query_that_never_ended_is_one_of_them() -> None:
    failed = RecordedQatC([], query=1, state=QatCState.FAILED)
    outcome = run_protocol(lab_of(RecordedRun([clean(), failed], errors={1: "division by zero"})), "ttp2")
    assert (outcome.stopped, outcome.accepted) == (None, ("missing queries",))


def test_what_else_is_missing_stops_the_analysis_all_the_same() -> None:
    pending = RecordedQatC([], query=1, state=QatCState.PENDING)
    outcome = run_protocol(lab_of(RecordedRun([clean(), pending], errors={5: "no such function"})), "ttp2")
    assert outcome.stopped is not None
    assert "missing queries: 20" in outcome.stopped


def test_a_qatc_that_was_only_looked_at_is_not_missing() -> None:
    looked_at = replace(clean(0, cardinality=2000), state=QatCState.SAME_PLAN)
    assert found(lab_of(RecordedRun([clean(), looked_at]))) == {}
    failed = replace(looked_at, state=QatCState.FAILED)
    assert found(lab_of(RecordedRun([clean(), failed]))) == {"missing queries": 10}


def test_steal_is_no_violation_of_the_exact_protocol_which_measures_it() -> None:
    assert run_protocol(with_one(machine=machine(steal=1)), "exact").stopped is None


def test_more_than_one_cpu_is_told_as_a_deviation_and_iowait_is_not_judged() -> None:
    wide = lab_of(RecordedRun([RecordedQatC([qe(i, online_cpus=2) for i in range(10)]), clean(query=1)]))
    outcome = run_protocol(wide, "ttp2")
    assert any(
        said.startswith("1 of 2 Q@Cs were measured on more than one CPU") for said in outcome.deviations
    )
    (iowait,) = (check for check in outcome.checks if check.name == "iowait time")
    assert (iowait.judged, iowait.violations) == (10, 0)
    assert iowait.unjudged == "2 CPUs: one may be in iowait while the query runs on another"


def test_there_is_no_fourth_protocol() -> None:
    with pytest.raises(UsageError, match="give one of ttp1, ttp2, exact"):
        run_protocol(lab_of(RecordedRun([clean()])), "ttp3")
