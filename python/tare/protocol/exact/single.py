"""The exact protocol's findings over the QEs of one Q@C, in plain numbers.

A check that fails is reported with its evidence; no QE is dropped for it, nor for its value.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tare.dbms.known import WITHOUT_RESULT_CACHE
from tare.measure.lacks import Cause, Lack
from tare.measure.records import QE
from tare.protocol.check import Finding, apply
from tare.protocol.exact.checks import EXACT_CHECKS, POSSIBLE_RESULT_CACHE, Trace
from tare.protocol.unmeasured import reason

_RESOURCES = {
    "query_run_ns": "cpu_ns", "query_user_ns": "user_ns", "query_system_ns": "system_ns",
    "query_block_io_ns": "block_io_ns", "query_run_queue_ns": "run_queue_ns",
    "utility_run_ns": "utility_cpu_ns", "utility_block_io_ns": "utility_block_io_ns",
    "query_read_bytes": "read_bytes", "query_write_bytes": "write_bytes",
    "utility_read_bytes": "utility_read_bytes",
}  # fmt: skip


def check(qes: Sequence[QE]) -> tuple[Finding, ...]:
    return tuple(apply(one, [(qe.index, measures_of(qe)) for qe in qes]) for one in EXACT_CHECKS)


PREEMPTION_MS = 0.02
"""Run time that a preemption may book to the preempting thread, at most, as kernel traces showed it."""


def lost_to_preemption(preemptions: float, cpu_ms: float) -> float:
    """Share of the CPU time that the scheduler may have booked to the preempting threads, at most."""
    return preemptions * PREEMPTION_MS / cpu_ms if cpu_ms > 0 else 0.0


def result_cache(qes: Sequence[QE], dbms: str, tick_ns: int) -> Finding:
    """Whether the first of the timed QEs seems to have filled a cache of results that served the later ones."""
    runs = [qe.resources.cpu_ns for qe in qes if qe.resources is not None]
    measures: dict[str, Any] = {"may_cache_results": int(dbms not in WITHOUT_RESULT_CACHE)}
    ticks = [ns / tick_ns for ns in runs if ns is not None]
    if len(ticks) == len(qes) > 2:
        later = ticks[1:]
        measures |= {
            "first_run": ticks[0],
            "later_run_max": max(later),
            "later_run_mean": statistics.fmean(later),
            "later_run_sd": statistics.stdev(later),
        }
    return apply(POSSIBLE_RESULT_CACHE, [(None, measures)])


def measures_of(qe: QE) -> dict[str, Any]:
    """Measures of a QE that the exact protocol's checks may use."""
    values: dict[str, Any] = {}
    if qe.resources is not None:
        values |= {name: getattr(qe.resources, field) for name, field in _RESOURCES.items()}
    if (elapsed := qe.elapsed) is None:
        return values
    lack = elapsed.why.get("sleep", Lack(Cause.NO_TRACE))
    rejected = lack.cause is Cause.TRACE_REJECTED
    return values | {
        "wall_ns": elapsed.wall_ns,
        **{
            f"leader_{field.name}": getattr(elapsed, field.name)
            for field in fields(elapsed)
            if field.name not in ("wall_ns", "why")
        },
        "residue_share": None if elapsed.residue_ns is None else elapsed.residue_ns / elapsed.wall_ns,
        "trace": Trace.WHOLE if elapsed.sleep_ns is not None else Trace.REJECTED if rejected else Trace.NONE,
        "trace_why": reason(lack),
    }
