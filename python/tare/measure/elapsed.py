"""The elapsed view: the leader's timeline, whose parts add up to the wall time.

CPU, own block-I/O delay and run-queue wait are the kernel's counters; sleep
and steal come from the scheduler trace, and only where that trace is trusted
(its switch-ins equal the counter of slices). What the parts leave is the
residue, shown with its sign.
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

    The readings enclose the clocked interval; outside the clocks the leader
    waits for its client, so those gaps are taken off its sleep.
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
    sleep = steal = None
    if before.timeline is None or after.timeline is None:
        why["sleep"] = why["steal"] = no_trace
    elif (traced := after.timeline.switch_ins - before.timeline.switch_ins) != (
        counted := after.timeline.slices - before.timeline.slices
    ):
        why["sleep"] = why["steal"] = (
            f"scheduler trace rejected: {traced} switch-ins traced, {counted} counted by the kernel"
        )
    else:
        gaps = (clock_1 - before.timeline.as_of_ns) + (after.timeline.as_of_ns - clock_2)
        asleep = after.timeline.sleep_ns - before.timeline.sleep_ns
        other = after.timeline.other_wait_ns - before.timeline.other_wait_ns
        sleep = asleep + other - gaps
        if cpu is not None:
            # The scheduler's clock leaves out what the hypervisor took; the trace does not.
            steal = after.timeline.on_cpu_ns - before.timeline.on_cpu_ns - cpu
        else:
            why["steal"] = why["cpu"]
    known = [part for part in (cpu, block_io, run_queue, sleep, steal) if part is not None]
    residue = wall_ns - sum(known)
    if sleep is None:
        why["residue"] = "includes the leader's sleep, which was not measured"
    return Elapsed(
        wall_ns=wall_ns,
        cpu_ns=cpu,
        user_ns=_used(before, after, "user_ns"),
        system_ns=_used(before, after, "system_ns"),
        block_io_ns=block_io,
        run_queue_ns=run_queue,
        sleep_ns=sleep,
        steal_ns=steal,
        residue_ns=residue,
        why=why,
    )


def _used(before: LeaderReading, after: LeaderReading, name: str) -> int | None:
    one, two = getattr(before.process, name), getattr(after.process, name)
    return None if one is None or two is None else two - one
