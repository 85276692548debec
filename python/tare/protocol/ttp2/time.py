"""TTPv2 for one Q@C: Step 2 (drop QEs), Step 3 (drop the Q@C), Step 4 (its time) — §8.3 to §8.5."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.measure.records import QE, Outcome
from tare.protocol.check import Check, Finding, apply
from tare.protocol.named import Numbers, complete
from tare.protocol.qatc_rules import MIN_TICKS
from tare.protocol.statistics import sample_sd
from tare.protocol.ttp2.checks import QE_CHECKS
from tare.protocol.ttp2.equations import EQUATIONS, NEEDED
from tare.protocol.ttp2.qatc_checks import QATC_CHECKS
from tare.protocol.ttp2.query_process import Identified, Way, identify
from tare.protocol.ttp2.single import Case, measures_of, measures_of_qatc

MIN_QES = 6


@dataclass(frozen=True, slots=True)
class Deviation:
    """Deviation of this run from the stated protocol."""

    name: str
    text: str


IOWAIT_NOT_APPLICABLE = "iowait-estimate-not-applicable"


@dataclass(frozen=True, slots=True)
class QueryTime:
    """A Q@C's time by TTPv2. `samples_ms` and `dropped` follow the QEs given, in their order."""

    time_ms: float | None
    reason: str | None  # why there is no time
    sd_ms: float | None  # of time_calc over the retained QEs
    samples_ms: tuple[float | None, ...]  # time_calc of every QE that has one, dropped or not
    dropped: tuple[bool, ...]
    findings: tuple[Finding, ...]
    deviations: tuple[Deviation, ...]
    query_process: Identified


def time_of(
    qes: Sequence[QE],
    tick_ns: int,
    *,
    min_qes: int = MIN_QES,
    way: Way | None = None,
    qatc_checks: Sequence[Check] = QATC_CHECKS,
) -> QueryTime:
    """Weighs one Q@C. Give its QEs in run order, without warm-up and without those that failed.

    `tick_ns` is the length of a tick. A QE whose time cannot be computed at all (a measure is
    missing) counts as dropped.
    """
    found = identify(qes, way)
    cases = [Case(qe, found.processes[i], found.tied, tick_ns) for i, qe in enumerate(qes)]
    known = [complete(measures_of(case), EQUATIONS) for case in cases]
    judged = [(qe.index, measures) for qe, measures in zip(qes, known, strict=True)]
    of_qes = tuple(apply(check, judged) for check in QE_CHECKS)
    of_qatc = tuple(apply(check, [(None, measures_of_qatc(known))]) for check in qatc_checks)
    violating = {violation.qe for finding in of_qes for violation in finding.violations}
    samples = tuple(_time_calc(measures) for measures in known)
    dropped = tuple(
        qe.index in violating or sample is None or Numbers(measures).lacks(NEEDED) is not None
        for qe, sample, measures in zip(qes, samples, known, strict=True)
    )
    times = [s for s, out in zip(samples, dropped, strict=True) if not out and s is not None]
    reason = _reason(known, dropped, samples, of_qes, of_qatc, min_qes)
    return QueryTime(
        time_ms=statistics.median(times) if reason is None else None,
        reason=reason,
        sd_ms=sample_sd(times),
        samples_ms=samples,
        dropped=dropped,
        findings=of_qes + of_qatc,
        deviations=_deviations(qes, found),
        query_process=found,
    )


def _time_calc(measures: Mapping[str, Any]) -> float | None:
    """Eq. 1 and 2 for one QE, ms; None where a measure that they need is missing."""
    if measures["query_processes"] == 0 or measures["outcome"] != Outcome.OK.value:
        return None
    time: float | None = measures["time_ms"]
    return time


def _reason(
    known: Sequence[Mapping[str, Any]],
    dropped: Sequence[bool],
    samples: Sequence[float | None],
    of_qes: Sequence[Finding],
    of_qatc: Sequence[Finding],
    min_qes: int,
) -> str | None:
    """Why Step 3 drops the Q@C: the first of its predicates that holds, most telling first."""
    if not known:
        return "no QE was run to its end"
    if all(sample is None for sample in samples):
        if any(measures["query_processes"] for measures in known):
            return "a measure that TTPv2 needs is missing: the query's block-I/O delay or /proc/stat"
        return "no query process is in every QE"
    for finding in of_qatc:
        if finding.violations:
            return f"{finding.name}: {finding.violations[0].evidence}"
    retained = [measures for measures, out in zip(known, dropped, strict=True) if not out]
    wall = [m["wall_ticks"] for m in (retained or known) if m["wall_ticks"] is not None]
    if wall and statistics.fmean(wall) <= MIN_TICKS:
        mean = statistics.fmean(wall)
        return f"the mean measured time is {mean:.2f} ticks; more than {MIN_TICKS:g} are needed"
    if len(retained) < min_qes:
        why = ", ".join(f"{f.name} ({f.violated})" for f in of_qes if f.violated)
        left = f"{len(retained)} of {len(known)} QEs are left, {min_qes} are needed"
        return f"{left}; dropped for: {why}" if why else left
    return None


def _deviations(qes: Sequence[QE], found: Identified) -> tuple[Deviation, ...]:
    deviations = []
    cpus = max((qe.online_cpus for qe in qes), default=1)
    if cpus > 1:
        deviations.append(
            Deviation(
                IOWAIT_NOT_APPLICABLE,
                f"{cpus} CPUs were online: equation 1 charges the query half of each iowait tick, which "
                "holds only where every CPU was blocked",
            )
        )
    if found.way == "told":
        deviations.append(
            Deviation("query-process-told", f"the query process is known from {found.how}, not inferred")
        )
    return tuple(deviations)
