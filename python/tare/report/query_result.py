"""Part of the result document for one query, from its QEs and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from tare.dbms.base import Plan
from tare.measure.choices import AnswerRule, Clocked
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.protocol import measures
from tare.protocol.check import Finding
from tare.protocol.preemption import Preemption
from tare.protocol.statistics import Interval, Summary
from tare.protocol.summary import QatC
from tare.protocol.ttp2 import IOWAIT_NOT_APPLICABLE
from tare.report import result as document
from tare.report.asked import Asked

PLANNING_CLOCKED = "planning is clocked"
PLANNING_CLOCKED_WHY = (
    "TTPv2 prepares a statement once and clocks its executions (§3.2.3), as --execution-only does; here its time "
    "includes planning"
)


def query_result(
    query: Query,
    plan: Plan | None,
    qes: Sequence[QE],
    summed: QatC,
    asked: Asked,
    error: str | None = None,
) -> document.QueryResult:
    """Every QE of the query in `qes`, summed up in `summed`; `plan` is None where it is not known. `error` ended the
    query's runs early, and the run continued."""
    elapsed = {m.name: m for m in (*measures.ELAPSED, measures.INSTRUCTIONS)}
    resources = {m.name: m for m in measures.RESOURCES}
    phases = {m.name: m for m in measures.PHASES}
    ttp2 = _measure(summed.elapsed[measures.TTP2_NAME], "ms", "protocol", note=_ttp2_note(summed))
    return document.QueryResult(
        name=query.name,
        sql=query.sql,
        parameters=dict(query.parameters),
        outcome=_outcome(qes, summed, asked),
        error=error,
        measures=document.Measures(**_measures(elapsed, summed.elapsed, summed.timed), ttp2_ms=ttp2),
        resources=document.ResourceMeasures(**_measures(resources, summed.resources, summed.timed)),
        phases=document.PhaseMeasures(**_measures(phases, summed.phases, summed.timed))
        if summed.phases
        else None,
        ttp2=_ttp2(summed, asked),
        plan=_plan(plan, summed.timed),
        answer=_answer(qes, summed.timed, asked),
        cache=_cache(summed, asked),
        checks=[_check(finding) for finding in summed.findings],
        disturbers=[
            document.DisturberResult(
                comm=one.comm,
                role=one.role.value,  # type: ignore[arg-type]  # QUERY is never among them
                kernel=one.kernel,
                pids=list(one.pids),
                run_ms=one.run_ms,
                share=one.share,
                on_query_cpus_ms=one.on_query_cpus_ms,
            )
            for one in summed.disturbers
        ],
        helpers=[
            document.HelperResult(
                comm=one.comm, relation=one.relation.value, pids=list(one.pids), run_ms=one.run_ms
            )
            for one in summed.helpers
        ],
        preemption=_preemption(summed.preemption),
        warmup=document.WarmUpResult(
            runs=sum(qe.warmup for qe in qes),
            detected=summed.warmup.detected,
            drifting_runs=summed.warmup.runs,
            evidence=summed.warmup.evidence,
        ),
        growth=None if summed.growth is None else document.GrowthResult(**asdict(summed.growth)),
        qes=_qes(qes, summed.timed),
    )


def _preemption(found: Preemption | None) -> document.PreemptionResult | None:
    if found is None:
        return None
    return document.PreemptionResult(count=found.count, bound_ms=found.bound_ms, share=found.share)


def _outcome(qes: Sequence[QE], summed: QatC, asked: Asked) -> document.QueryOutcome:
    if not summed.timed:
        return "failed"
    bad = any(qe.outcome in (Outcome.FAILED, Outcome.TIMEOUT) for qe in qes)
    return "partial" if bad or len(summed.timed) < asked.runs else "ok"


def _measures(
    table: Mapping[str, measures.Measure], summaries: Mapping[str, Summary], timed: Sequence[QE]
) -> dict[str, document.MeasureResult]:
    made = {}
    for name, measure in table.items():
        summary = summaries[name]
        note = None
        if summary.median is not None:
            note = _note([measure.reason(qe) for qe in timed])
        made[name] = _measure(summary, measure.unit, measure.view, measure.sampled, note)
    return made


def _note(reasons: Sequence[str | None]) -> str | None:
    """Return what some runs report of a measure that others gave; the first stands for all."""
    said = [reason for reason in reasons if reason is not None]
    if not said:
        return None
    return said[0] if len(said) == len(reasons) else f"in {len(said)} of {len(reasons)} runs: {said[0]}"


def _measure(
    summary: Summary, unit: str, view: measures.View, sampled: bool = False, note: str | None = None
) -> document.MeasureResult:
    return document.MeasureResult(
        median=summary.median,
        ci95=bounds(summary.interval),
        coverage=summary.interval.coverage if summary.interval else None,
        ci_reason=summary.interval_reason,
        rsd=summary.rsd,
        samples=list(summary.samples),
        reason=summary.reason,
        note=note,
        sampled=sampled,
        unit=unit,
        view=view,
    )


def bounds(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _ttp2_note(summed: QatC) -> str | None:
    return next((d.text for d in summed.time.deviations if d.name == IOWAIT_NOT_APPLICABLE), None)


def _ttp2(summed: QatC, asked: Asked) -> document.Ttp2Result:
    time = summed.time
    deviations = [document.DeviationResult(name=d.name, text=d.text) for d in time.deviations]
    if asked.clocked is Clocked.TOTAL:
        deviations.append(document.DeviationResult(name=PLANNING_CLOCKED, text=PLANNING_CLOCKED_WHY))
    return document.Ttp2Result(
        time_ms=time.time_ms,
        reason=time.reason,
        sd_ms=time.sd_ms,
        retained=sum(not out for out in time.dropped),
        dropped_qes=[qe.index for qe, out in zip(summed.judged, time.dropped, strict=True) if out],
        query_process=time.query_process.how,
        deviations=deviations,
    )


def _plan(plan: Plan | None, timed: Sequence[QE]) -> document.PlanResult:
    seen = {qe.plan_fingerprint for qe in timed}
    fingerprint = plan.fingerprint if plan else next(iter(sorted(f for f in seen if f)), None)
    return document.PlanResult(
        fingerprint=fingerprint,
        consistent=seen <= {fingerprint},
        tree=plan.root.as_json() if plan else None,
        text=plan.text if plan else None,
    )


def _answer(qes: Sequence[QE], timed: Sequence[QE], asked: Asked) -> document.AnswerResult:
    first = timed[0] if timed else None
    checks = [qe.answer for qe in qes if qe.answer is not None]
    differences = [one.difference for one in checks if one.difference is not None]
    not_compared = next((one.unread for one in checks if one.unread), None)
    if asked.answer is AnswerRule.ANY:
        not_compared = "--answer any"
    return document.AnswerResult(
        rows=first.row_count if first else None,
        size_bytes=first.answer.size_bytes if first and first.answer else None,
        hash=first.answer_hash if first else None,
        consistent=not_compared is None and len(answers_of(qes)) <= 1,
        compared=asked.answer.value,
        largest_difference=max(differences, default=None),
        by_sums=any(one.by_sums for one in checks),
        not_compared=not_compared,
    )


def answers_of(qes: Sequence[QE]) -> set[tuple[int | None, str]]:
    """The answers of the QEs that ended, also of those to warm up, where they were compared."""
    return {
        (qe.row_count, qe.answer_hash)
        for qe in qes
        if qe.outcome in (Outcome.OK, Outcome.PLAN_CHANGED) and qe.answer_hash is not None
    }


def _cache(summed: QatC, asked: Asked) -> document.CacheResult:
    readings = []
    for qe in summed.timed:
        if (seen := qe.residence) is None:
            continue
        share = None
        if seen.page_cache_bytes is not None and seen.file_bytes:
            share = seen.page_cache_bytes / seen.file_bytes
        readings.append(
            document.CacheReading(
                qe=qe.index,
                page_cache_bytes=seen.page_cache_bytes,
                file_bytes=seen.file_bytes,
                page_cache_share=share,
                page_cache_how=seen.page_cache_how,
                buffer_bytes=seen.buffer_bytes,
                buffer_how=seen.buffer_how,
                buffers_emptied=seen.buffers_emptied,
                query_files=[
                    document.QueryFile(
                        path=file.path, resident_bytes=file.resident_bytes, size_bytes=file.size_bytes
                    )
                    for file in seen.query_files
                ],
                query_files_how=seen.query_files_how,
            )
        )
    return document.CacheResult(
        asked=asked.cache.value, reached=summed.cache.reached, evidence=summed.cache.evidence, proof=readings
    )


def _check(finding: Finding) -> document.CheckResult:
    return document.CheckResult(
        number=finding.number,
        name=finding.name,
        source=finding.source,
        judged=finding.judged,
        violated=finding.violated,
        qes=[v.qe for v in finding.violations if v.qe is not None],
        evidence=[document.CheckEvidence(qe=v.qe, text=v.evidence) for v in finding.violations],
        unjudged=finding.unjudged,
    )


def _qes(qes: Sequence[QE], timed: Sequence[QE]) -> list[document.QEResult]:
    place = {qe.index: i for i, qe in enumerate(timed)}
    return [
        document.QEResult(
            index=qe.index,
            sample=place.get(qe.index),
            warmup=qe.warmup,
            outcome=qe.outcome.value,
            error=qe.error,
            started_at=qe.started_at,
            wall_ms=measures.WALL.read(qe),
            fingerprint=qe.plan_fingerprint,
            rows=qe.row_count,
            answer=qe.answer_hash,
            answer_difference=qe.answer.difference if qe.answer else None,
        )
        for qe in qes
    ]
