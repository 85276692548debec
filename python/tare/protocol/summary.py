"""Summary of a Q@C by both protocols, from which the result document is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.measure.choices import CacheState
from tare.measure.records import QE, Outcome
from tare.protocol import exact, measures, ttp2, warmup
from tare.protocol.cache import Proof, prove
from tare.protocol.check import Finding
from tare.protocol.disturbers import Disturber, disturbers
from tare.protocol.growth import Growth, growth
from tare.protocol.helpers import Helper, helpers
from tare.protocol.measures import Measure
from tare.protocol.preemption import Preemption, preemption
from tare.protocol.result_cache import RESULT_CACHE
from tare.protocol.statistics import Summary, summarise
from tare.protocol.ttp2.qatc_checks import EXCESSIVE_VARIATION
from tare.protocol.unmeasured import NO_EXECUTION
from tare.protocol.warmup import WarmUp


@dataclass(frozen=True, slots=True)
class QatC:
    """`timed`: the QEs that are summed up, in run order — every one that ended well and was not
    warm-up. The summaries' samples follow it."""

    timed: tuple[QE, ...]
    judged: tuple[QE, ...]  # what TTPv2 was given: the timed ones and those that timed out
    elapsed: Mapping[str, Summary]  # by measure name; with ttp2_ms and instructions
    resources: Mapping[str, Summary]
    phases: Mapping[str, Summary]  # empty where only the execution was clocked
    time: ttp2.QueryTime
    findings: tuple[Finding, ...]
    warmup: WarmUp
    disturbers: tuple[Disturber, ...]
    helpers: tuple[Helper, ...]
    preemption: Preemption | None
    cache: Proof
    growth: Growth | None


def timed_qes(qes: Sequence[QE]) -> tuple[QE, ...]:
    return tuple(qe for qe in qes if not qe.warmup and qe.outcome is Outcome.OK)


def sum_up(
    qes: Sequence[QE],
    cache: CacheState,
    tick_ns: int,
    *,
    reasons: Mapping[str, str] | None = None,
    min_qes: int = ttp2.MIN_QES,
    keeps_results: bool = False,
) -> QatC:
    """Sums up the QEs of one query, in run order.

    `tick_ns` is the length of a tick. `reasons` says, by measure name, why the whole run lacks a
    measure (no instruction counter, a lower tier), where the QEs do not say it themselves. `keeps_results`: whether
    the DBMS had a cache of results on.
    """
    said = reasons or {}
    timed = timed_qes(qes)
    judged = tuple(qe for qe in qes if not qe.warmup and qe.outcome in (Outcome.OK, Outcome.TIMEOUT))
    qatc_checks = (EXCESSIVE_VARIATION, RESULT_CACHE) if keeps_results else (EXCESSIVE_VARIATION,)
    time = ttp2.time_of(judged, tick_ns, min_qes=min_qes, qatc_checks=qatc_checks)
    elapsed = {m.name: _summary(m, timed, said) for m in measures.ELAPSED}
    elapsed[measures.TTP2_NAME] = _ttp2_summary(judged, time)
    elapsed[measures.INSTRUCTIONS.name] = _summary(measures.INSTRUCTIONS, timed, said)
    return QatC(
        timed=timed,
        judged=judged,
        elapsed=elapsed,
        resources={m.name: _summary(m, timed, said) for m in measures.RESOURCES},
        phases={m.name: _summary(m, timed, said) for m in measures.PHASES}
        if any(qe.phases is not None for qe in timed)
        else {},
        time=time,
        findings=exact.check(timed) + time.findings,
        warmup=_warmup(timed),
        disturbers=disturbers(timed, tick_ns),
        helpers=helpers(timed),
        preemption=preemption(timed),
        cache=prove(timed, cache),
        growth=growth(timed),
    )


def _summary(measure: Measure, qes: Sequence[QE], said: Mapping[str, str]) -> Summary:
    reason = next((why for qe in qes if measure.read(qe) is None and (why := measure.reason(qe))), None)
    reason = reason or said.get(measure.name)
    if reason is None and not qes:
        reason = NO_EXECUTION
    return summarise([measure.read(qe) for qe in qes], reason)


def _ttp2_summary(judged: Sequence[QE], time: ttp2.QueryTime) -> Summary:
    """Median and interval over the retained QEs; samples of all that are summed up."""
    samples = tuple(
        sample for qe, sample in zip(judged, time.samples_ms, strict=True) if qe.outcome is Outcome.OK
    )
    if time.reason is not None:
        return Summary(samples, None, None, None, None, time.reason)
    retained = summarise([s for s, out in zip(time.samples_ms, time.dropped, strict=True) if not out])
    return Summary(samples, time.time_ms, retained.interval, retained.interval_reason, retained.rsd, None)


def _warmup(qes: Sequence[QE]) -> WarmUp:
    """By CPU time where it is known, which neighbours do not move, and by wall time; the longer counts."""
    found = []
    for measure in (measures.CPU_OF_ALL, measures.WALL):
        samples = [value for qe in qes if (value := measure.read(qe)) is not None]
        if samples and len(samples) == len(qes):
            seen = warmup.detect(samples)
            found.append(WarmUp(seen.runs, seen.shift, f"{measure.label}: {seen.evidence}"))
    return max(found, key=lambda seen: seen.runs, default=WarmUp(0, 0.0, "nothing was measured"))
