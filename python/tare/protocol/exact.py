"""The exact protocol, ours: nanosecond counters whose parts must add up to the wall time.

Two views, never mixed. *Elapsed* is the leader's timeline:
wall = CPU + own block-I/O delay + run-queue wait + sleep + steal + residue.
*Resources* is CPU and I/O summed over every process that worked for the query.
A check that fails is reported with its evidence; no QE is dropped for it, nor for its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tare.measure.records import QE, Elapsed, Resources
from tare.protocol.check import Check, Finding, Judgement, Unjudged, apply

SOURCE = "exact protocol"

RESIDUE_SHARE = 0.02  # of the wall time
RESIDUE_FLOOR_NS = 1_000_000  # what the readings' own distance from the clocks may leave over
NEGATIVE_FLOOR_NS = 100_000  # two counters read some microseconds apart may cross by this much

PARTS = ("cpu_ns", "block_io_ns", "run_queue_ns", "sleep_ns", "steal_ns")

_NO_ELAPSED = Unjudged("the leader was not seen in both snapshots")


def parts_add_up(qe: QE) -> Judgement:
    """|residue| within 2% of the wall time, or within 1 ms."""
    if qe.elapsed is None:
        return _NO_ELAPSED
    if missing := [part for part in PARTS if getattr(qe.elapsed, part) is None]:
        return Unjudged(f"a part was not measured: {_plain(missing[0])}")
    residue, wall = qe.elapsed.residue_ns, qe.elapsed.wall_ns
    if residue is None:
        return Unjudged("the residue was not computed")
    if abs(residue) > max(RESIDUE_SHARE * wall, RESIDUE_FLOOR_NS):
        return f"{residue / 1e6:+.2f} ms of {wall / 1e6:.2f} ms are in no part ({residue / wall:+.1%})"
    return None


def no_negative_parts(qe: QE) -> Judgement:
    """No part of the timeline and no sum of resources is below zero (by more than 0.1 ms)."""
    if qe.elapsed is None and qe.resources is None:
        return _NO_ELAPSED
    for name, value in (*_numbers(qe.elapsed, PARTS), *_numbers(qe.resources, None)):
        if value < (-NEGATIVE_FLOOR_NS if name.endswith("_ns") else 0):
            return f"{_plain(name)} is {value / 1e6:.3f} ms" if name.endswith("_ns") else f"{name} is {value}"
    return None


def timeline_trusted(qe: QE) -> Judgement:
    """The scheduler trace saw as many switch-ins as the kernel counted slices.

    Where it did not, `Elapsed.why` of the sleep says so, and the trace's parts are left out.
    """
    if qe.elapsed is None:
        return _NO_ELAPSED
    if qe.elapsed.sleep_ns is not None:
        return None
    why = qe.elapsed.why.get("sleep", "there is no scheduler trace")
    return why if "rejected" in why else Unjudged(why)


EXACT_CHECKS: tuple[Check[QE], ...] = (
    Check(1, "parts add up", SOURCE, parts_add_up),
    Check(2, "no negative parts", SOURCE, no_negative_parts),
    Check(3, "slices match", SOURCE, timeline_trusted),
)


def check(qes: Sequence[QE]) -> tuple[Finding, ...]:
    """The exact protocol's findings over the QEs of one Q@C."""
    return tuple(apply(one, [(qe.index, qe) for qe in qes]) for one in EXACT_CHECKS)


def _numbers(view: Elapsed | Resources | None, names: Sequence[str] | None) -> list[tuple[str, int]]:
    if view is None:
        return []
    chosen = names or [field.name for field in fields(view) if field.name != "why"]
    return [(name, value) for name in chosen if (value := getattr(view, name)) is not None]


def _plain(name: str) -> str:
    return name.removesuffix("_ns").replace("_", " ")
