"""The elapsed view: the leader's timeline, whose parts add up to the wall time.

CPU, own block-I/O delay and run-queue wait are the kernel's counters; sleep,
steal and the share of interrupts come from the scheduler trace, and only where
that trace is trusted (its switch-ins equal the counter of slices). No part is
computed from another, so what they leave is a true residue, shown with its sign.
"""

from __future__ import annotations

from dataclasses import dataclass

from tare._probe import Process, Timeline
from tare.measure.records import Elapsed


@dataclass(frozen=True, slots=True)
class LeaderReading:
    """The leader's thread at one snapshot."""

    process: Process
    timeline: Timeline | None


def elapsed_view(
    wall_ns: int,
    clock_1: int,
    clock_2: int,
    before: LeaderReading,
    after: LeaderReading,
    no_trace: str,
    no_delay: str,
) -> Elapsed:
    """`no_trace`, `no_delay`: why there is no scheduler trace or no delay accounting here.

    The readings enclose the clocked interval. What the leader slept outside the
    clocks, waiting for its client, is taken off; what it ran there is not, and
    shows as a residue below zero.
    """
    why: dict[str, str] = {}
    cpu = _used(before, after, "run_ns")
    block_io = _used(before, after, "block_io_ns")
    run_queue = _used(before, after, "run_queue_ns")
    if cpu is None:
        why["cpu"] = "this tier gives no exact run time of the leader's thread"
    if block_io is None:
        why["block_io"] = no_delay or "the leader was born before delay accounting was on"
    if run_queue is None:
        why["run_queue"] = "this kernel or tier gives no run-queue wait"
    sleep = steal = interrupt = None
    one, two = before.timeline, after.timeline
    if one is None or two is None:
        why["sleep"] = why["steal"] = why["interrupt"] = no_trace
    elif (traced := two.switch_ins - one.switch_ins) != (counted := two.slices - one.slices):
        why["sleep"] = why["steal"] = why["interrupt"] = (
            f"scheduler trace rejected: {traced} switch-ins traced, {counted} counted by the kernel"
        )
    else:
        slept = two.sleep_ns - one.sleep_ns + two.other_wait_ns - one.other_wait_ns
        sleep = slept - _asleep_before(clock_1, one) - _asleep_after(clock_2, two)
        steal = two.stolen_ns - one.stolen_ns
        interrupt = two.interrupted_ns - one.interrupted_ns
    known = [part for part in (cpu, block_io, run_queue, sleep, steal) if part is not None]
    residue = wall_ns - sum(known)
    if sleep is None:
        why["residue"] = "includes the leader's sleep, which was not measured"
    return Elapsed(
        wall_ns=wall_ns,
        cpu_ns=cpu,
        user_ns=_used(before, after, "user_ns"),
        system_ns=_used(before, after, "system_ns"),
        interrupt_ns=interrupt,
        block_io_ns=block_io,
        run_queue_ns=run_queue,
        sleep_ns=sleep,
        steal_ns=steal,
        residue_ns=residue,
        why=why,
    )


def _asleep_before(clock_1: int, first: Timeline) -> int:
    return clock_1 - first.as_of_ns if first.state == "sleep" else 0


def _asleep_after(clock_2: int, second: Timeline) -> int:
    return second.as_of_ns - max(second.since_ns, clock_2) if second.state == "sleep" else 0


def _used(before: LeaderReading, after: LeaderReading, name: str) -> int | None:
    one, two = getattr(before.process, name), getattr(after.process, name)
    return None if one is None or two is None else two - one
