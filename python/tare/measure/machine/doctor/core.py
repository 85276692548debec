"""Check: whether somebody else uses the core of the CPU that a query would have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import quantiles

from tare.measure.machine.doctor.finding import Area, Finding, Status
from tare.measure.machine.doctor.surroundings import Surroundings

_NAME = "own core"
_WHY = (
    "a busy sibling thread, of another guest too, takes units of the core: the same query then costs more CPU "
    "time, and no counter tells"
)
_TURNS = 300
_STEADY = 1.10
"""The most that nine tenths of the turns may differ by, from the fastest tenth on."""
_FAR_MORE = 2
"""A sibling thread slows work that could use the whole core by at least so much more than work that waits for itself;
a clock slows both alike."""


def own_core(around: Surroundings) -> Finding:
    from tare._probe import core_share

    cpu = min(os.sched_getaffinity(0))
    return judged(cpu, core_share(cpu, _TURNS), around.hypervisor)


def judged(cpu: int, turns: Sequence[tuple[int, int]], hypervisor: str | None) -> Finding:
    """`turns`: as of `tare._probe.core_share`."""
    chain, wide = (_spread(ns) for ns in zip(*turns, strict=True))
    seen = (
        f"on CPU {cpu} work that can use the whole core took up to {wide:.2f} times its least time, work that waits "
        f"for itself {chain:.2f} times"
    )
    if max(chain, wide) <= _STEADY:
        return _told(Status.GOOD, f"{seen}: nobody comes and goes on its core")
    if wide - 1 < _FAR_MORE * (chain - 1):
        step = "fix the clock rate (see governor and turbo), or compare by turns (`tare compare`)"
        return _told(Status.ADVICE, f"{seen}: the clock rate changes, or the CPU is taken away", step)
    step = "ask for cores of your own, or a quieter host" if hypervisor else "reserve a whole core (see SMT)"
    step += "; else compare by turns (`tare compare`) and make more runs"
    return _told(Status.ADVICE, f"{seen}: somebody comes and goes on its core", step)


def _told(status: Status, observed: str, step: str = "") -> Finding:
    return Finding(_NAME, Area.DISTURBANCE, status, observed, _WHY, step)


def _spread(ns: Sequence[int]) -> float:
    """From the fastest tenth to the slowest."""
    deciles = quantiles(ns, n=10)
    return deciles[-1] / deciles[0]
