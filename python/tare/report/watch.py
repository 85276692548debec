"""Warnings that are due: rules over what was summed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.dbms.base import Role, Server
from tare.measure.choices import CacheState
from tare.measure.records import QE, Outcome
from tare.protocol.check import Finding
from tare.protocol.disturbers import Disturber
from tare.protocol.exact import SOURCE as EXACT
from tare.protocol.qatc_rules import MIN_TICKS
from tare.protocol.result_cache import RESULT_CACHE
from tare.protocol.statistics import SMALLEST_FOR_INTERVAL
from tare.protocol.summary import QatC
from tare.protocol.ttp2 import IOWAIT_NOT_APPLICABLE
from tare.report import warnings
from tare.report.asked import Asked, Means
from tare.report.comparison import known
from tare.report.comparison_models import ComparisonResult
from tare.report.growing import GrowsFromRunToRun
from tare.report.numbers import ms_text, percent
from tare.report.query_result import answers_of
from tare.report.result import OwnCostResult
from tare.report.warnings import Caution

UNSTEADY = 0.05  # relative standard deviation of the wall time, or of the CPU time
STEADY = 0.10  # of the CPU time, at most, to be called so
STEADIER = 3.0  # times that CPU must be steadier for the noise to come from outside
STEAL_SHARE = 0.01
THROTTLED_SHARE = 0.01
PREEMPTED_SHARE = 0.02  # of the CPU time, at most, too low
INTERRUPT_SHARE = 0.02  # of the CPU time
OWN_SHARE = 0.01
WORKER_READ_BYTES = 1 << 20
UNATTRIBUTED_MS = 1.0
UNATTRIBUTED_SHARE = 0.01  # of the query's CPU time


def of_run(
    asked: Asked, means: Means, own: OwnCostResult, comparisons: Sequence[ComparisonResult]
) -> Iterator[Caution]:
    """Return the warnings that concern every query of the run."""
    if means.delay_accounting is not True:
        yield warnings.NoDelayAccounting(None, means.delay_accounting is False)
    if means.places is not None and not means.places.ours <= means.places.server:
        yield warnings.CpusApart(None, means.places)
    for attempt in means.attempts:
        if attempt.name == means.tier:
            break
        if not attempt.works or asked.tier == means.tier:
            yield warnings.LowerTier(None, means.tier, attempt.name, attempt.reason, attempt.next_step)
            break
    if own.share_of_wall is not None and own.cpu_ms is not None and own.share_of_wall > OWN_SHARE:
        yield warnings.OwnCostHigh(None, own.cpu_ms, own.share_of_wall)
    for comparison in comparisons:
        if comparison.answers_agree is False:
            yield warnings.AnswersDiffer(None, f"{comparison.a} and {comparison.b} return different rows")
        if comparison.elsewhere is not None and comparison.elsewhere.overturns:
            others = comparison.elsewhere
            yield warnings.CpuElsewhere(None, tuple(others.by), others.medians_ms)
        if comparison.stop.reached is False:
            yield warnings.NotResolved(None, comparison.stop.half_width)


def of_query(
    name: str, qes: Sequence[QE], summed: QatC, asked: Asked, means: Means, server: Server
) -> Iterator[Caution]:
    """Return the warnings that concern one query."""
    yield from _missing(name, qes)
    if 0 < len(summed.timed) < SMALLEST_FOR_INTERVAL:
        yield warnings.TooFewRuns(name, len(summed.timed))
    yield from _consistency(name, qes)
    if not summed.timed:
        return
    yield from _cache(name, summed, asked)
    noise = [*_noise(name, summed)]
    if asked.cache is CacheState.WARM and not summed.warmup.detected:
        noise += _unsteady_cpu(name, summed)
    yield from _by_growth(name, summed, noise)
    yield from _ticks(name, summed, means)
    yield from _accounts(name, summed, server)


def _missing(name: str, qes: Sequence[QE]) -> Iterator[Caution]:
    timeouts = [qe for qe in qes if qe.outcome is Outcome.TIMEOUT]
    failures = [qe for qe in qes if qe.outcome is Outcome.FAILED]
    if timeouts or failures:
        last = max([*timeouts, *failures], key=lambda qe: qe.index)
        yield warnings.RunsMissing(name, len(timeouts), len(failures), last.error or "time-out")


def _consistency(name: str, qes: Sequence[QE]) -> Iterator[Caution]:
    ran = [qe for qe in qes if qe.outcome in (Outcome.OK, Outcome.PLAN_CHANGED)]
    plans = tuple(dict.fromkeys(qe.plan_fingerprint for qe in ran if qe.plan_fingerprint))
    if len(plans) > 1:
        yield warnings.PlanNotOne(name, plans)
    answers = answers_of(qes)
    if len(answers) > 1:
        yield warnings.AnswersDiffer(name, f"{len(answers)} different answers in {len(ran)} runs")
    unread = next((qe.answer.unread for qe in ran if qe.answer and qe.answer.unread), None)
    if unread is not None:
        yield warnings.AnswerUnread(name, unread)


def _cache(name: str, summed: QatC, asked: Asked) -> Iterator[Caution]:
    if summed.cache.reached is False:
        yield warnings.CacheNotReached(name, asked.cache, summed.cache.evidence)
    elif summed.cache.reached is None and asked.cache is not CacheState.WARM:
        yield warnings.CacheUnproved(name, asked.cache, summed.cache.evidence)
    result_cache = _finding(summed, RESULT_CACHE.source, RESULT_CACHE.number)
    if result_cache is not None and result_cache.violated:
        yield warnings.PossibleResultCache(name, result_cache.violations[0].evidence)
    elif summed.warmup.detected and summed.growth is None:
        yield warnings.WarmUpSeen(name, summed.warmup.evidence, summed.warmup.runs)


def _noise(name: str, summed: QatC) -> Iterator[Caution]:
    wall, steal = summed.elapsed["wall_ms"], summed.elapsed["steal_ms"]
    cpu = summed.resources["cpu_ms"]
    often = summed.preemption
    if often is not None and often.share > PREEMPTED_SHARE:
        yield warnings.PreemptedOften(name, often.count, often.bound_ms, often.share)
    throttled = summed.elapsed["throttled_ms"].median
    if throttled and wall.median and throttled > THROTTLED_SHARE * wall.median:
        yield warnings.Throttled(name, throttled, throttled / wall.median)
    elif wall.rsd is None or cpu.rsd is None:
        pass
    elif wall.rsd > UNSTEADY and wall.rsd > STEADIER * cpu.rsd and cpu.rsd <= STEADY:
        yield warnings.UnsteadyWall(name, wall.rsd, cpu.rsd, _neighbour(summed.disturbers))
    if steal.median and wall.median and steal.median > STEAL_SHARE * wall.median:
        yield warnings.StealPresent(name, steal.median, steal.median / wall.median)

    interrupts, on_cpu = summed.elapsed["interrupt_ms"], summed.elapsed["cpu_ms"]
    if interrupts.median and on_cpu.median and interrupts.median > INTERRUPT_SHARE * on_cpu.median:
        yield warnings.InterruptsServed(name, interrupts.median, interrupts.median / on_cpu.median)


def _unsteady_cpu(name: str, summed: QatC) -> Iterator[Caution]:
    cpu = summed.resources["cpu_ms"]
    kinds = {(qe.plan_fingerprint, qe.row_count, qe.answer_hash) for qe in summed.timed}
    same = len(kinds) == 1 and all(hash_ is not None for _, _, hash_ in kinds)
    if same and cpu.rsd is not None and cpu.rsd > UNSTEADY and len(summed.timed) >= SMALLEST_FOR_INTERVAL:
        yield warnings.UnsteadyCpu(name, cpu.rsd, len(summed.timed))


def _by_growth(name: str, summed: QatC, noise: Sequence[Caution]) -> Iterator[Caution]:
    """Growth takes the place of the warnings that its drift would cause: one cause has one warning."""
    drift = [one for one in noise if isinstance(one, (warnings.UnsteadyWall, warnings.UnsteadyCpu))]
    grown = summed.growth
    if grown is not None and (grown.cost or drift or summed.warmup.detected):
        yield GrowsFromRunToRun(name, grown, drift[0].evidence if drift else summed.warmup.evidence)
        noise = [one for one in noise if one not in drift]
    yield from noise


def _neighbour(found: Sequence[Disturber]) -> str | None:
    """The busiest process that is neither ours nor the DBMS's, else the DBMS's busiest other one."""
    for role in (Role.DAEMON, Role.UTILITY):
        for one in found:
            if one.role is role:
                return f"{one.comm} ({role}, {ms_text(one.run_ms)} a QE, {percent(one.share)} of the CPUs)"
    return None


def _ticks(name: str, summed: QatC, means: Means) -> Iterator[Caution]:
    wall = summed.elapsed["wall_ms"].median
    tick_ms = means.tick_ns / 1e6
    if wall is not None and wall <= MIN_TICKS * tick_ms:
        yield warnings.TooShortForTicks(name, wall, tick_ms)
        return
    counted = any(qe.machine is not None and qe.machine.total["iowait"] > 0 for qe in summed.timed)
    if counted and any(d.name == IOWAIT_NOT_APPLICABLE for d in summed.time.deviations):
        own = known(summed.resources["block_io_ms"])
        cpus = max(qe.online_cpus for qe in summed.timed)
        yield warnings.Ttp2NotApplicable(name, cpus, max(own, default=None))


def _unattributed(name: str, summed: QatC) -> Iterator[Caution]:
    cpu, beside = summed.resources["cpu_ms"].median, summed.resources["unattributed_cpu_ms"].median
    if not beside or beside < max(UNATTRIBUTED_MS, UNATTRIBUTED_SHARE * (cpu or 0.0)):
        return
    doubtful = [one for one in summed.helpers if not one.relation.is_sure]
    servers = tuple(dict.fromkeys(one.comm for one in doubtful))
    yield warnings.CpuUnattributed(name, beside, cpu or 0.0, servers, doubtful[0].relation)


def _accounts(name: str, summed: QatC, server: Server) -> Iterator[Caution]:
    yield from _unattributed(name, summed)
    read = summed.resources["utility_read_bytes"].median
    if server.dbms == "postgresql" and read is not None and read > WORKER_READ_BYTES:
        yield warnings.IoWorkersRead(name, read)
    adds_up, slices = _finding(summed, EXACT, 1), _finding(summed, EXACT, 3)
    if adds_up is not None and adds_up.violated * 2 >= max(adds_up.judged, 1):
        yield warnings.LargeResidue(name, adds_up.violated, adds_up.judged, adds_up.violations[0].evidence)
    if slices is not None and slices.violated:
        yield warnings.TraceRejected(name, slices.violated, slices.judged, slices.violations[0].evidence)


def _finding(summed: QatC, source: str, number: int) -> Finding | None:
    return next((f for f in summed.findings if f.source == source and f.number == number), None)
