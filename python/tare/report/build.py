"""From the QEs of a run to its result document."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence

from tare.dbms.base import Plan, Server
from tare.measure.environment import MachineFacts
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.protocol import measures
from tare.protocol.check import Finding
from tare.protocol.statistics import Interval, Summary
from tare.protocol.summary import QatC, sum_up
from tare.protocol.ttp2 import IOWAIT_NOT_APPLICABLE
from tare.report import result as document
from tare.report import watch
from tare.report.asked import Asked, Means
from tare.report.comparison import compare_first_two
from tare.report.warnings import Caution


def build_result(
    qes: Sequence[QE],
    queries: Sequence[Query],
    plans: Sequence[Plan | None],
    *,
    server: Server,
    machine: MachineFacts,
    means: Means,
    asked: Asked,
    command: str,
    started_at: str,
    interrupted: bool = False,
    error: str | None = None,
) -> document.RunResult:
    """Sums up a run, whole or cut short. `qes` in run order; `plans` as `queries`, None where not known.

    `error` is what ended the run before its time. Nothing here measures: the same records give the
    same document.
    """
    of_query = [[qe for qe in qes if qe.query == i] for i in range(len(queries))]
    summed = [sum_up(own, asked.cache, means.tick_ns, reasons=means.reasons) for own in of_query]
    cost = _own_cost(summed)
    comparison = None
    if asked.compare is not None:
        comparison = compare_first_two([q.name for q in queries], summed, asked.compare, asked.until)
    cautions: list[Caution] = list(watch.of_run(asked, means, cost, comparison))
    for query, own, qatc in zip(queries, of_query, summed, strict=True):
        cautions += watch.of_query(query.name, own, qatc, asked, means, server)
    return document.RunResult(
        command=command,
        started_at=started_at,
        interrupted=interrupted,
        error=error,
        environment=_environment(machine, server, means, cost),
        results=[
            _query(query, plan, own, qatc, asked)
            for query, plan, own, qatc in zip(queries, plans, of_query, summed, strict=True)
        ],
        comparison=comparison,
        warnings=[
            document.WarningResult(
                type=_kebab(type(caution).__name__),
                query=caution.query,
                cause=caution.cause,
                evidence=caution.evidence,
                next_step=caution.next_step(asked),
            )
            for caution in cautions
        ],
    )


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


# One query -----------------------------------------------------------------------------
def _query(
    query: Query, plan: Plan | None, qes: Sequence[QE], summed: QatC, asked: Asked
) -> document.QueryResult:
    elapsed = {m.name: m for m in (*measures.ELAPSED, measures.INSTRUCTIONS)}
    resources = {m.name: m for m in measures.RESOURCES}
    ttp2 = _measure(summed.elapsed[measures.TTP2_NAME], "ms", "protocol", note=_ttp2_note(summed))
    return document.QueryResult(
        name=query.name,
        sql=query.sql,
        parameters=dict(query.parameters),
        outcome=_outcome(qes, summed, asked),
        measures=document.Measures(**_measures(elapsed, summed.elapsed, summed.timed), ttp2_ms=ttp2),
        resources=document.ResourceMeasures(**_measures(resources, summed.resources, summed.timed)),
        ttp2=_ttp2(summed),
        plan=_plan(plan, summed.timed),
        answer=_answer(summed.timed),
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
        warmup=document.WarmUpResult(
            runs=sum(qe.warmup for qe in qes),
            detected=summed.warmup.detected,
            drifting_runs=summed.warmup.runs,
            evidence=summed.warmup.evidence,
        ),
        qes=_qes(qes, summed.timed),
    )


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
            note = next((why for qe in timed if (why := measure.reason(qe))), None)
        made[name] = _measure(summary, measure.unit, measure.view, measure.sampled, note)
    return made


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


def _ttp2(summed: QatC) -> document.Ttp2Result:
    time = summed.time
    return document.Ttp2Result(
        time_ms=time.time_ms,
        reason=time.reason,
        sd_ms=time.sd_ms,
        retained=sum(not out for out in time.dropped),
        dropped_qes=[qe.index for qe, out in zip(summed.judged, time.dropped, strict=True) if out],
        query_process=time.query_process.how,
        deviations=[document.DeviationResult(name=d.name, text=d.text) for d in time.deviations],
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


def _answer(timed: Sequence[QE]) -> document.AnswerResult:
    first = timed[0] if timed else None
    return document.AnswerResult(
        rows=first.row_count if first else None,
        hash=first.answer_hash if first else None,
        consistent=len({(qe.row_count, qe.answer_hash) for qe in timed}) <= 1,
    )


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
        )
        for qe in qes
    ]


# The run -------------------------------------------------------------------------------
def _own_cost(summed: Sequence[QatC]) -> document.OwnCostResult:
    with_cost = [(qe, qe.own) for qatc in summed for qe in qatc.timed if qe.own is not None]
    if not with_cost:
        return document.OwnCostResult(cpu_ms=None, share_of_wall=None, snapshots_ms=None, rss_bytes=None)
    shares = [own.cpu_ns / qe.elapsed.wall_ns for qe, own in with_cost if qe.elapsed and qe.elapsed.wall_ns]
    return document.OwnCostResult(
        cpu_ms=statistics.median(own.cpu_ns for _, own in with_cost) / 1e6,
        share_of_wall=statistics.median(shares) if shares else None,
        snapshots_ms=statistics.median(own.snapshots_ns for _, own in with_cost) / 1e6,
        rss_bytes=max(own.rss_bytes for _, own in with_cost),
    )


def _environment(
    machine: MachineFacts, server: Server, means: Means, cost: document.OwnCostResult
) -> document.Environment:
    return document.Environment(
        machine=document.MachineResult(
            cpu_model=machine.cpu_model,
            online_cpus=machine.online_cpus,
            usable_cpus=machine.usable_cpus,
            memory_bytes=machine.memory_bytes,
            hypervisor=machine.hypervisor,
        ),
        kernel=machine.kernel,
        operating_system=machine.operating_system,
        server=document.ServerResult(
            dbms=server.dbms,
            version=server.version,
            settings=dict(server.settings),
            url=server.url,
            local=server.local,
        ),
        probe=document.ProbeResult(
            tier=means.tier,
            attempts=[
                document.AttemptResult(name=a.name, works=a.works, reason=a.reason) for a in means.attempts
            ],
            delay_accounting=means.delay_accounting,
            tick_ms=means.tick_ns / 1e6,
        ),
        tare=document.TareResult(version=machine.tare, python=machine.python, cost=cost),
    )
