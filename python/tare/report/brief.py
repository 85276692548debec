"""A warning in one line: its cause and its number, for the short form of a report."""

from __future__ import annotations

from tare.measure.machine.cpus import show
from tare.report import warnings
from tare.report.numbers import bytes_text, ms_text, percent
from tare.report.warnings import Caution


def brief(caution: Caution) -> str:
    """Return the warning in one line of at most 78 columns, plus text of others (of a DBMS, of the kernel)."""
    return _of_times(caution) or _of_conditions(caution) or _of_other_measures(caution) or caution.cause


def _of_times(caution: Caution) -> str | None:
    match caution:
        case warnings.TooFewRuns():
            runs = f"{caution.runs} run{'' if caution.runs == 1 else 's'}"
            return f"{runs}: too few for a 95% interval"
        case warnings.UnsteadyWall():
            wall, cpu = percent(caution.wall_rsd), percent(caution.cpu_rsd)
            return f"unsteady wall time (rsd {wall}; of CPU {cpu}): noise from outside the query"
        case warnings.UnsteadyCpu():
            return f"unsteady CPU time: rsd {percent(caution.cpu_rsd)} in {caution.runs} warm runs"
        case warnings.StealPresent():
            return f"the hypervisor took {ms_text(caution.ms)} of a run, {percent(caution.share)} of the wall time"
        case warnings.InterruptsServed():
            return f"the CPU time includes {ms_text(caution.ms)} of interrupts ({percent(caution.share)})"
        case warnings.PreemptedOften():
            preempted = f"{caution.count:g} preemption{'' if caution.count == 1 else 's'}"
            return f"{preempted} a run: CPU time up to {percent(caution.share)} too low"
        case warnings.Throttled():
            throttled = f"{ms_text(caution.throttled_ms)} ({percent(caution.share)} of wall)"
            return f"the CPU quota was used up: throttled for up to {throttled}"
        case warnings.CpuUnattributed():
            used = f"{ms_text(caution.cpu_ms)} of CPU time"
            return f"{used} that may be the query's is not counted ({', '.join(caution.servers)})"
        case warnings.CpuElsewhere():
            a, b = map(ms_text, caution.medians_ms)
            return f"CPU time of {', '.join(caution.by)} could turn the verdict: {a} beside A, {b} beside B"
        case warnings.OwnCostHigh():
            return (
                f"Tare's own work took {percent(caution.share)} of the wall time ({ms_text(caution.cpu_ms)})"
            )
        case warnings.LargeResidue():
            return f"the parts do not add up to the wall time in {caution.violated} of {caution.judged} runs"
        case warnings.WarmUpSeen():
            return f"the beginning of the run still drifts: {caution.seen}"
    return None


def _of_conditions(caution: Caution) -> str | None:
    match caution:
        case warnings.CacheNotReached():
            return f"the cache was NOT {caution.state} as asked: {caution.seen}"
        case warnings.CacheUnproved():
            return f"not proved that the cache was {caution.state}: {caution.seen}"
        case warnings.CpusApart():
            return (
                f"the server runs on CPU {show(caution.places.server)}, Tare on {show(caution.places.ours)}"
            )
        case warnings.PlanNotOne():
            return f"the plan changed between runs: {len(caution.fingerprints)} plans"
        case warnings.AnswersDiffer():
            return caution.cause if caution.query is None else f"{caution.cause}: {caution.seen}"
        case warnings.RunsMissing():
            counts = ((caution.timeouts, "timed out"), (caution.failures, "failed"))
            ended = " and ".join(f"{count} {word}" for count, word in counts if count)
            return f"runs that are not summed up: {ended}; the last: {caution.last}"
        case warnings.PossibleResultCache():
            return "a result cache, which is on, may have answered all runs but the first"
        case warnings.NotResolved() if caution.half_width is not None:
            return f"the runs ended with the ratio known to ±{percent(caution.half_width)} only"
    return None


def _of_other_measures(caution: Caution) -> str | None:
    match caution:
        case warnings.NoDelayAccounting():
            return "no block-I/O delay in this kernel: waits for the disk look like others"
        case warnings.LowerTier():
            return f"measured with the {caution.tier} tier; {caution.better} does not work here"
        case warnings.Ttp2NotApplicable():
            return f"TTPv2's I/O estimate does not apply on {caution.cpus} CPUs"
        case warnings.IoWorkersRead():
            return f"PostgreSQL's I/O workers read {bytes_text(caution.read)} for the query"
        case warnings.TooShortForTicks():
            return f"too short for TTPv2: {ms_text(caution.wall_ms)}, in ticks of {caution.tick_ms:g} ms"
        case warnings.TraceRejected():
            return f"the scheduler trace was rejected in {caution.violated} of {caution.judged} runs"
        case warnings.AnswerUnread():
            return f"the answers of the runs were not compared: {caution.why}"
        case warnings.AnswersUnverified():
            return f"not compared with a reference's answers: {caution.reason}"
    return None
