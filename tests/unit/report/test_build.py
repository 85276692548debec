"""From records to the document: nothing is lost or dropped for its value, and every null has a reason."""

from __future__ import annotations

import dataclasses
import statistics

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tare.dbms.base import Role
from tare.measure.answers import AnswerCheck
from tare.measure.choices import AnswerRule, CacheState
from tare.measure.lacks import Cause, Lack
from tare.measure.records import Outcome, Residence
from tare.report.asked import Asked
from tare.report.result import MeasureResult, RunResult
from tare.report.time import lines
from tests.unit.protocol.qe_records import MS, elapsed, machine, process, qe, resources, run_of
from tests.unit.report import sample

times = st.integers(1, 10**12)
maybe = st.one_of(st.none(), st.integers(0, 10**12))


@st.composite
def any_qe(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    """A QE with any of its measures missing, of any outcome."""
    outcome = draw(st.sampled_from(list(Outcome)))
    timeline = elapsed(
        wall_ns=draw(times), cpu_ns=draw(maybe), user_ns=draw(maybe), system_ns=draw(maybe),
        interrupt_ns=draw(maybe),
        block_io_ns=draw(maybe), run_queue_ns=draw(maybe), sleep_ns=draw(maybe), steal_ns=draw(maybe),
        residue_ns=draw(st.one_of(st.none(), st.integers(-(10**9), 10**9))),
    )  # fmt: skip
    use = resources(cpu_ns=draw(maybe), read_bytes=draw(maybe), utility_read_bytes=draw(maybe))
    roles = draw(st.lists(st.sampled_from(list(Role)), max_size=4))
    return qe(
        elapsed=draw(st.sampled_from([timeline, None])),
        resources=draw(st.sampled_from([use, None])),
        outcome=outcome,
        error=None if outcome is Outcome.OK else "it went wrong",
        warmup=draw(st.booleans()),
        residence=draw(
            st.sampled_from([None, Residence(0, 1 << 30, "mincore", None, "does not tell", None)])
        ),
        instructions=draw(maybe),
        machine=draw(st.sampled_from([None, machine(iowait=3)])),
        online_cpus=draw(st.integers(1, 4)),
        processes=tuple(
            process(
                100 + i,
                role,
                run_ns=draw(maybe),
                block_io_ns=draw(maybe),
                user_ticks=draw(st.integers(0, 99)),
            )
            for i, role in enumerate(roles)
        ),
        leader_pid=draw(st.sampled_from([None, 100])),
        unaccounted_births=draw(st.sampled_from([None, -1, 0, 2])),
        own=draw(st.sampled_from([None, qe().own])),
    )


def measures_of(result: RunResult) -> list[MeasureResult]:
    return [
        getattr(group, name)
        for query in result.results
        for group in (query.measures, query.resources)
        for name in type(group).model_fields
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(any_qe(), max_size=12), st.sampled_from(list(CacheState)))
def test_any_records_make_a_document_that_keeps_its_promises(qes, cache) -> None:  # type: ignore[no-untyped-def]
    numbered = [dataclasses.replace(one, index=i) for i, one in enumerate(qes)]
    result = sample.result(numbered, asked=Asked(10, cache))
    query = result.results[0]
    assert [one.index for one in query.qes] == list(range(len(numbered)))
    timed = [one for one in numbered if one.outcome is Outcome.OK and not one.warmup]
    for measure in measures_of(result):
        assert len(measure.samples) == len(timed)
        assert (measure.median is None) == (measure.reason is not None)
        assert (measure.ci95 is None) or (measure.coverage or 0) >= 0.95
        assert measure.median is None or (measure.ci95 is None) == (measure.ci_reason is not None)


def test_the_far_out_run_is_in_the_samples_and_in_the_summary() -> None:
    result = sample.result(run_of([10.0] * 9 + [10_000.0]))
    cpu = result.results[0].measures.cpu_ms
    assert cpu.samples[-1] == 10_000
    assert cpu.rsd == pytest.approx(statistics.stdev(cpu.samples) / statistics.fmean(cpu.samples))


def test_warm_up_and_failed_runs_stay_as_rows_and_leave_the_summary() -> None:
    qes = [qe(0, warmup=True), qe(1), qe(2, outcome=Outcome.FAILED, error="gone", elapsed=None), qe(3)]
    query = sample.result(qes).results[0]
    assert [one.sample for one in query.qes] == [None, 0, None, 1]
    assert len(query.measures.wall_ms.samples) == 2
    assert query.warmup.runs == 1
    assert query.outcome == "partial"


def test_a_part_that_some_runs_lack_says_in_how_many() -> None:
    lost = elapsed(sleep_ns=None, why={"sleep": Lack(Cause.TRACE_REJECTED, switch_ins=9, slices=10)})
    sleep = sample.result([qe(0, elapsed=lost), *(qe(i) for i in range(1, 7))]).results[0].measures.sleep_ms
    assert sleep.samples[0] is None
    assert sleep.median is not None
    assert (
        sleep.note
        == "in 1 of 7 runs: scheduler trace rejected: 9 switch-ins traced, 10 counted by the kernel"
    )


def test_runs_under_an_abandoned_plan_leave_the_summary_and_are_told() -> None:
    qes = [qe(0, outcome=Outcome.PLAN_CHANGED, plan_fingerprint="aaaa"), *(qe(i) for i in range(1, 11))]
    result = sample.result(qes, asked=Asked(10))
    assert len(result.results[0].measures.wall_ms.samples) == 10
    assert "plan-not-one" in {warning.type for warning in result.warnings}


def test_ttp2_shows_the_samples_of_dropped_qes_beside_the_median_of_the_retained() -> None:
    odd = qe(0, processes=(process(user_ticks=0, system_ticks=6),))
    query = sample.result([odd, *(qe(i) for i in range(1, 10))]).results[0]
    assert query.ttp2.dropped_qes == [0]
    assert len(query.measures.ttp2_ms.samples) == 10
    assert query.measures.ttp2_ms.median == query.ttp2.time_ms == 60


def test_each_measure_says_which_view_it_belongs_to() -> None:
    query = sample.warm().results[0]
    assert query.measures.cpu_ms.view == "elapsed"
    assert query.resources.cpu_ms.view == "resources"
    assert query.measures.cpu_user_ms.sampled
    assert not query.measures.cpu_ms.sampled


def test_disturbers_are_grouped_by_name_and_the_five_busiest_are_kept() -> None:
    crowd = [process(200 + i, Role.DAEMON, comm=f"d{i % 7}", run_ns=(1 + i % 7) * MS) for i in range(14)]
    found = sample.result([qe(0, processes=(process(), *crowd))]).results[0].disturbers
    assert [one.comm for one in found] == ["d6", "d5", "d4", "d3", "d2"]
    assert found[0].pids == [206, 213]
    assert found[0].run_ms == pytest.approx(14)
    assert found[0].share == pytest.approx(14 / 57.2)


def test_a_neighbour_on_another_cpu_is_not_on_the_query_s() -> None:
    elsewhere = process(7, Role.DAEMON, comm="far", cpu=1, run_ns=9 * MS)
    found = sample.result([qe(0, processes=(process(cpu=0), elsewhere))]).results[0].disturbers
    assert (found[0].run_ms, found[0].on_query_cpus_ms) == (9, 0)


@pytest.mark.parametrize(
    ("state", "residence", "reached"),
    [
        (CacheState.COLD, Residence(1 << 20, 1 << 30, "mincore", 1 << 20, "pg_buffercache", None), True),
        (CacheState.COLD, Residence(900 << 20, 1 << 30, "mincore", 1 << 20, "pg_buffercache", None), False),
        (CacheState.COLD, Residence(1 << 20, 1 << 30, "mincore", None, "does not tell", None), None),
        (
            CacheState.LUKEWARM_OS,
            Residence(1 << 20, 1 << 30, "mincore", 99 << 20, "pg_buffercache", None),
            True,
        ),
        (
            CacheState.LUKEWARM_DBMS,
            Residence(1 << 30, 1 << 30, "mincore", 99 << 20, "pg_buffercache", None),
            False,
        ),
        (CacheState.COLD, Residence(1 << 20, 1 << 30, "mincore", None, "does not tell", "restart"), True),
        (CacheState.COLD, Residence(1 << 30, 1 << 30, "mincore", None, "does not tell", "restart"), False),
        (CacheState.COLD, None, None),
    ],
)
def test_cold_is_proved_from_what_was_resident(state, residence, reached) -> None:  # type: ignore[no-untyped-def]
    cache = sample.result([qe(0, residence=residence)], asked=Asked(1, state)).results[0].cache
    assert cache.reached is reached


@pytest.mark.parametrize(("read", "reached"), [(0, True), (50 << 20, False), (None, None)])
def test_warm_is_proved_from_what_was_read(read: int | None, reached: bool | None) -> None:
    cache = sample.result([qe(0, resources=resources(read_bytes=read))]).results[0].cache
    assert cache.reached is reached


def test_one_qe_that_was_not_cold_spoils_the_proof() -> None:
    cold, warm = (
        Residence(0, 1 << 30, "mincore", 0, "x", None),
        Residence(1 << 30, 1 << 30, "mincore", 0, "x", None),
    )
    qes = [qe(0, residence=cold), qe(1, residence=warm)]
    cache = sample.result(qes, asked=Asked(2, CacheState.COLD)).results[0].cache
    assert cache.reached is False
    assert "QE 1" in cache.evidence


def test_a_comparison_is_about_the_measure_that_was_chosen_beforehand() -> None:
    comparison = sample.compared(1.10).comparison
    assert comparison is not None
    assert (comparison.primary, comparison.verdict, comparison.greater) == ("cpu_ms", "different", "B")
    assert set(comparison.measures) == {"wall_ms", "cpu_ms", "resources.cpu_ms", "instructions"}
    assert comparison.answers_agree is True


def test_a_run_to_warm_up_with_another_answer_is_another_answer() -> None:
    result = sample.result([qe(0, warmup=True, answer_hash="a"), qe(1, answer_hash="b")])
    (query,) = result.results
    assert not query.answer.consistent
    assert "others differ" in lines.answer(query)
    assert "answers-differ" in {warning.type for warning in result.warnings}


def test_the_largest_difference_of_answers_is_reported() -> None:
    differences = [0.0, 2e-15, 7e-15, 1e-15]
    qes = [qe(i, answer=AnswerCheck("5f1e", one)) for i, one in enumerate(differences)]
    (query,) = sample.result(qes).results
    assert query.answer.largest_difference == 7e-15
    assert [one.answer_difference for one in query.qes] == differences
    assert lines.answer(query).endswith("the same in every run (floating-point values to 7.0e-15)")


@pytest.mark.parametrize(
    ("difference", "end"), [(0.0, "(by sums of f"), (2e-15, "(sums of floating-point values to 2")]
)
def test_an_answer_that_was_compared_by_sums_is_marked_so(difference: float, end: str) -> None:
    qes = [qe(i, answer=AnswerCheck("5f1e", difference, by_sums=True)) for i in range(3)]
    (query,) = sample.result(qes).results
    assert query.answer.by_sums
    assert end in lines.answer(query)


def test_answers_that_were_not_to_be_compared_agree_with_nothing() -> None:
    qes = [
        qe(i, answer_hash=None, row_count=rows, answer=AnswerCheck(None)) for i, rows in enumerate((98, 105))
    ]
    (query,) = sample.result(qes, asked=Asked(2, answer=AnswerRule.ANY)).results
    assert not query.answer.consistent
    assert lines.answer(query) == "98 to 105 rows, not compared: --answer any"
