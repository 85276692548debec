"""Each warning comes when it is due, with a next step for what the user asked, and not otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import pytest

from tare.dbms.base import Role
from tare.dbms.extent import Extent, TableRows
from tare.measure.answers import AnswerCheck
from tare.measure.choices import CacheState
from tare.measure.lacks import Cause, Lack
from tare.measure.query import Query
from tare.measure.records import QE, Outcome, OwnCost, Relation
from tare.protocol.stop import Stop
from tare.report import warnings
from tare.report.asked import Asked, Attempt, Means, Places
from tare.report.build import warning_result
from tare.report.result import RunResult
from tests.unit.protocol.qe_records import MS, TICK_NS, elapsed, machine, process, qe, resources, run_of
from tests.unit.report import sample

LOWER = Means(
    "procfs", [Attempt("bpf", False, "CAP_BPF is missing"), Attempt("procfs", True, "")], True, TICK_NS
)
KEEPS_RESULTS = dataclasses.replace(sample.MEANS, keeps_results=True)
OFF = Means("bpf", [], False, TICK_NS)
APART = Means("bpf", [], True, TICK_NS, places=Places(frozenset({0}), frozenset({1}), frozenset({0, 1})))
REJECTED = Lack(Cause.TRACE_REJECTED, switch_ins=9, slices=10)

DUE: dict[str, Callable[[], RunResult]] = {
    "too-few-runs": lambda: sample.result([qe(i) for i in range(5)]),
    "unsteady-wall": lambda: sample.result(run_of([55.0, 55.1] * 5, [60.0, 90.0] * 5)),
    "unsteady-cpu": lambda: sample.result(run_of([55.0, 63.0, 54.0, 70.0, 58.0] * 2)),
    "cache-not-reached": lambda: sample.result([qe(i) for i in range(10)], asked=Asked(10, CacheState.COLD)),
    "cache-unproved": lambda: sample.result(
        [qe(i, residence=None) for i in range(10)], asked=Asked(10, CacheState.COLD)
    ),
    "steal-present": lambda: sample.result([qe(i, elapsed=elapsed(steal_ns=2 * MS)) for i in range(10)]),
    "interrupts-served": lambda: sample.result(
        [qe(i, elapsed=elapsed(interrupt_ns=5 * MS)) for i in range(10)]
    ),
    "no-delay-accounting": lambda: sample.result([qe(i) for i in range(10)], means=OFF),
    "lower-tier": lambda: sample.result([qe(i) for i in range(10)], means=LOWER),
    "ttp2-not-applicable": lambda: sample.result(
        [qe(i, online_cpus=2, machine=machine(iowait=1)) for i in range(10)]
    ),
    "io-workers-read": lambda: sample.result(
        [qe(i, resources=resources(utility_read_bytes=9 << 20)) for i in range(10)]
    ),
    "too-short-for-ticks": lambda: sample.result([qe(i, elapsed=elapsed(15, 12)) for i in range(10)]),
    "warm-up-seen": lambda: sample.result(run_of([70.0, *[55.0, 55.2] * 5], [70.5, *[70.0, 55.2] * 5])),
    "plan-not-one": lambda: sample.result(
        [qe(0, outcome=Outcome.PLAN_CHANGED, plan_fingerprint="b"), *(qe(i) for i in range(1, 11))]
    ),
    "answers-differ": lambda: sample.result([qe(i, answer_hash=str(i)) for i in range(10)]),
    "answer-unread": lambda: sample.result(
        [
            qe(i, answer_hash=None, answer=AnswerCheck(None, unread="the driver cannot read a value"))
            for i in range(10)
        ]
    ),
    "answers-unverified": lambda: unverified(),
    "possible-result-cache": lambda: sample.result(caching([500.0, *[5.0, 5.2] * 5]), means=KEEPS_RESULTS),
    "own-cost-high": lambda: sample.result([qe(i, own=OwnCost(9 * MS, 1, 1)) for i in range(10)]),
    "large-residue": lambda: sample.result([qe(i, elapsed=elapsed(residue_ns=9 * MS)) for i in range(10)]),
    "trace-rejected": lambda: sample.result(
        [qe(i, elapsed=elapsed(sleep_ns=None, why={"sleep": REJECTED})) for i in range(10)]
    ),
    "runs-missing": lambda: sample.result(
        [*(qe(i) for i in range(9)), qe(9, outcome=Outcome.TIMEOUT, error="time-out")]
    ),
    "preempted-often": lambda: sample.result(
        [qe(i, processes=(process(involuntary_switches=200 + i),)) for i in range(10)]
    ),
    "cpus-apart": lambda: sample.result([qe(i) for i in range(10)], means=APART),
    "throttled": lambda: sample.result(
        [qe(i, elapsed=elapsed(run_queue_ns=0, throttled_ns=1 * MS)) for i in range(10)]
    ),
    "cpu-unattributed": lambda: sample.result(
        [
            qe(
                i,
                resources=resources(unattributed_cpu_ns=20 * MS),
                processes=(process(), process(7, Role.DAEMON, relation=Relation.UNSEEN_CLIENT)),
            )
            for i in range(10)
        ]
    ),
    "cpu-elsewhere": lambda: sample.result(
        [
            qe(
                i,
                query=i % 2,
                resources=resources(100 + i / 10 if i % 2 else 5 + i / 10),
                processes=(
                    process(),
                    process(7, Role.UTILITY, run_ns=0 if i % 2 else (200 * MS + i)),
                ),
            )
            for i in range(24)
        ],
        [sample.QUERY, Query("other", "SELECT 2")],
        Asked(12, compare="resources.cpu_ms"),
    ),
    "grows-from-run-to-run": lambda: sample.result(growing([50.0 + i for i in range(10)])),
    "not-resolved": lambda: sample.compared(until=Stop(0.001)),
}


def unverified() -> RunResult:
    """A result that got a warning after its runs."""
    result = sample.result([qe(i) for i in range(10)])
    caution = warnings.AnswersUnverified(None, "the scale is 2", "run at scale 1")
    return result.model_copy(update={"warnings": [warning_result(caution, Asked(10))]})


def caching(cpu_ms: Sequence[float]) -> list[QE]:
    """QEs whose query process has run so long, ms."""
    return [
        dataclasses.replace(one, processes=(process(run_ns=round(cpu * MS)),))
        for one, cpu in zip(run_of(cpu_ms), cpu_ms, strict=True)
    ]


def growing(cpu_ms: Sequence[float]) -> list[QE]:
    """QEs before each of which the database is 1 MiB larger, with 100 dead rows more in a table."""
    return [
        dataclasses.replace(one, met=Extent((9 + i) << 20, {"t": TableRows(50, 100 * i), "u": TableRows(9)}))
        for i, one in enumerate(run_of(cpu_ms))
    ]


def types(result: RunResult) -> set[str]:
    return {warning.type for warning in result.warnings}


def test_a_clean_run_is_left_in_peace() -> None:
    assert sample.warm().warnings == []


@pytest.mark.parametrize("name", DUE)
def test_it_is_due(name: str) -> None:
    found = [warning for warning in DUE[name]().warnings if warning.type == name]
    assert len(found) == 1
    assert found[0].cause
    assert found[0].evidence
    assert found[0].next_step


def test_every_type_of_warning_is_tried_here() -> None:
    kinds = {kind.__name__ for kind in warnings.Caution.__subclasses__()}
    tried = {"".join(part.capitalize() for part in name.split("-")) for name in DUE}
    assert kinds == tried


def next_step(result: RunResult, name: str) -> str:
    return next(warning.next_step for warning in result.warnings if warning.type == name)


def test_who_asked_for_isolation_is_not_told_to_isolate() -> None:
    qes = run_of([55.0, 55.1] * 5, [60.0, 90.0] * 5)
    assert "tare isolate" in next_step(sample.result(qes), "unsteady-wall")
    assert "tare isolate" not in next_step(
        sample.result(qes, asked=Asked(10, isolated=True)), "unsteady-wall"
    )


def test_who_asked_for_warm_up_is_told_to_ask_for_more() -> None:
    qes = run_of([70.0, *[55.0, 55.2] * 5], [70.5, *[70.0, 55.2] * 5])
    assert next_step(sample.result(qes, asked=Asked(11, warmup=3)), "warm-up-seen") == "--warmup 4"


def test_who_asked_for_a_tier_is_told_that_it_was_their_choice() -> None:
    result = sample.result([qe(i) for i in range(10)], means=LOWER, asked=Asked(10, tier="procfs"))
    assert "--tier" in next_step(result, "lower-tier")


def test_the_busiest_neighbour_is_named_and_it_is_not_tare() -> None:
    noise = [process(7, Role.DAEMON, comm="rustc", run_ns=20 * MS), process(8, Role.EXECUTOR, run_ns=30 * MS)]
    qes = run_of([55.0, 55.1] * 5, [60.0, 90.0] * 5, processes=(process(), *noise))
    evidence = next(w.evidence for w in sample.result(qes).warnings if w.type == "unsteady-wall")
    assert "rustc" in evidence


def test_cpu_time_that_differs_with_the_cache_is_no_matter_of_the_core() -> None:
    qes = run_of([55.0, 63.0, 54.0, 70.0, 58.0] * 2)
    cold = sample.result(qes, asked=Asked(10, CacheState.COLD))
    assert "unsteady-cpu" not in types(cold)


def test_a_first_run_that_stands_out_is_no_result_cache_where_there_is_none() -> None:
    slow = caching([500.0, *[5.0, 5.2] * 5])
    assert "possible-result-cache" not in types(sample.result(slow))
    (query,) = sample.result(slow).results
    assert not [check for check in query.checks if "cache" in check.name]
    assert "cache" not in (query.ttp2.reason or "")


def test_a_neighbour_beside_the_first_run_is_no_result_cache() -> None:
    beside = run_of([55.0, *[55.0, 55.2] * 5], [500.0, *[57.0] * 10])
    assert "possible-result-cache" not in types(sample.result(beside, means=KEEPS_RESULTS))


def test_a_first_run_that_is_only_a_little_slower_is_no_result_cache() -> None:
    found = sample.result(caching([75.0, *[55.0, 55.2] * 5]), means=KEEPS_RESULTS)
    assert "possible-result-cache" not in types(found)


def test_iowait_of_others_is_not_called_the_querys() -> None:
    result = sample.result([qe(i, online_cpus=2, machine=machine(iowait=1)) for i in range(10)])
    (found,) = [warning for warning in result.warnings if warning.type == "ttp2-not-applicable"]
    assert found.evidence == (
        "2 CPUs were online, and one idled while some process waited for I/O; the query's processes waited at most "
        "0 ms in a run"
    )


@pytest.mark.parametrize(("server", "ours"), [({0, 1}, {0, 1}), ({0, 1}, {1}), ({1}, {1})])
def test_a_server_that_may_use_all_cpus_of_tares_is_not_apart(server: set[int], ours: set[int]) -> None:
    places = Places(frozenset(server), frozenset(ours), frozenset({0, 1}))
    means = dataclasses.replace(APART, places=places)
    assert "cpus-apart" not in types(sample.result([qe(i) for i in range(10)], means=means))


def test_a_server_that_serves_others_too_is_not_watched_by_a_warm_up() -> None:
    def of(relation: Relation) -> RunResult:
        beside = process(7, Role.DAEMON, relation=relation)
        used = resources(unattributed_cpu_ns=20 * MS)
        return sample.result([qe(i, resources=used, processes=(process(), beside)) for i in range(10)])

    assert "--warmup 1" in next_step(of(Relation.UNSEEN_CLIENT), "cpu-unattributed")
    assert "--warmup" not in next_step(of(Relation.SHARED_SERVER), "cpu-unattributed")
    assert "root" in next_step(of(Relation.HIDDEN), "cpu-unattributed")


def test_only_postgresql_has_io_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "io-workers-read" in types(DUE["io-workers-read"]())
    monkeypatch.setattr(sample, "SERVER", dataclasses.replace(sample.SERVER, dbms="mariadb"))
    assert "io-workers-read" not in types(DUE["io-workers-read"]())


@pytest.mark.parametrize(
    ("cpu_ms", "replaced"),
    [
        ([50.0 + 3 * i for i in range(10)], "unsteady-cpu"),
        ([70.0, *[55.0, 55.2] * 5], "warm-up-seen"),
        ([55.0, 63.0, 54.0, 70.0, 58.0] * 2, "unsteady-cpu"),
    ],
)
def test_growth_takes_the_place_of_what_its_drift_would_be_taken_for(
    cpu_ms: list[float], replaced: str
) -> None:
    assert replaced in types(sample.result(run_of(cpu_ms)))
    assert "grows-from-run-to-run" not in types(sample.result(run_of(cpu_ms)))
    found = types(sample.result(growing(cpu_ms)))
    assert "grows-from-run-to-run" in found
    assert not found & {"unsteady-cpu", "unsteady-wall", "warm-up-seen"}


def test_growth_that_costs_nothing_is_no_warning() -> None:
    result = sample.result(growing([55.0, 55.1] * 5))
    assert result.warnings == []
    grown = result.results[0].growth
    assert grown is not None
    assert (grown.size_bytes, grown.table, grown.live_rows, grown.dead_rows, grown.cost) == (
        1 << 20, "t", 0, 100, None,
    )  # fmt: skip


def test_growth_is_reported_with_its_numbers() -> None:
    warning = next(
        one
        for one in sample.result(growing([50.0 + i for i in range(10)])).warnings
        if one.type == "grows-from-run-to-run"
    )
    assert warning.evidence == (
        "each of 10 runs met 1.0 MiB and 100 dead rows in t more than the one before; CPU time +1.8% a run"
    )
    assert "--prepare" in warning.next_step
