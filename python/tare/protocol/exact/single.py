"""The exact protocol's findings over the QEs of one Q@C, in plain numbers.

A check that fails is reported with its evidence; no QE is dropped for it, nor for its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tare.measure.lacks import Cause, Lack
from tare.measure.records import QE
from tare.protocol.check import Finding, apply
from tare.protocol.exact.checks import EXACT_CHECKS, Trace
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


def measures_of(qe: QE) -> dict[str, Any]:
    """Return the measures of a QE that the exact protocol's checks may use."""
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
