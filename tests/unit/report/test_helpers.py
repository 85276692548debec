"""The report names the processes that a query put to work, and refuses a verdict that others could turn over."""

from __future__ import annotations

from tare.dbms.base import Role
from tare.measure.query import Query
from tare.measure.records import QE, ProcessUse, Relation
from tare.report.asked import Asked
from tare.report.kit import terminal
from tare.report.result import RunResult
from tare.report.time.story import story
from tests.unit.protocol.qe_records import MS, process, qe, resources
from tests.unit.report import sample


def shown(result: RunResult) -> str:
    return " ".join(terminal.render(story(result), 80).split())


def runs(*helpers: ProcessUse, n: int = 10, query: int = 0, cpu_ms: float = 200) -> list[QE]:
    known = [helper for helper in helpers if helper.role is Role.QUERY]
    return [
        qe(
            2 * i + query,
            query=query,
            resources=resources(
                cpu_ms + i / 100,
                processes=1 + len(known),
                leader_cpu_ns=MS,
                workers_cpu_ns=round((cpu_ms - 1) * MS),
            ),
            processes=(process(), *helpers),
        )
        for i in range(n)
    ]


def backend(relation: Relation, role: Role = Role.QUERY, run_ms: int = 199) -> ProcessUse:
    return process(300, role, comm="postgres", run_ns=run_ms * MS, relation=relation)


def test_a_backend_of_another_server_is_a_process_and_no_worker() -> None:
    text = shown(sample.result(runs(backend(Relation.CLIENT))))
    assert "of CPU time (leader 1.00 ms, 1 other process 199 ms)" in text
    assert "its client is a query process" in text


def test_parallel_workers_stay_workers_beside_a_process_that_may_be_a_helper() -> None:
    worker = process(301, Role.QUERY)
    text = shown(sample.result(runs(worker, backend(Relation.UNSEEN_CLIENT, Role.DAEMON))))
    assert "1 worker 199 ms)" in text
    assert "not counted: its client was gone too soon" in text


def test_a_verdict_that_others_could_turn_over_is_not_given() -> None:
    a = runs(cpu_ms=150, n=12)
    b = runs(backend(Relation.SHARED_SERVER, Role.DAEMON), cpu_ms=5, n=12, query=1)
    qes = sorted([*a, *b], key=lambda one: one.index)
    result = sample.result(
        qes, [sample.QUERY, Query("other", "SELECT 2")], Asked(12, compare="resources.cpu_ms")
    )
    found = result.comparison
    assert found is not None
    assert found.elsewhere is not None
    assert (found.verdict, found.greater, found.elsewhere.overturns) == ("undecided", None, True)
    assert found.measures[found.primary].greater == "A", "the measure by itself keeps its figures"
    text = shown(result)
    assert "Which of A and B costs more CPU time of all processes cannot be told" in text
    assert (
        "Others (postgres), which may be theirs, used 0 ms beside A, 199 ms beside B: with them, B takes 1.35"
        in text
    )


def test_wall_time_needs_no_such_refusal() -> None:
    a = runs(cpu_ms=150, n=12)
    b = runs(backend(Relation.SHARED_SERVER, Role.DAEMON), cpu_ms=5, n=12, query=1)
    qes = sorted([*a, *b], key=lambda one: one.index)
    result = sample.result(qes, [sample.QUERY, Query("other", "SELECT 2")], Asked(12, compare="wall_ms"))
    assert result.comparison is not None
    assert result.comparison.elsewhere is None
