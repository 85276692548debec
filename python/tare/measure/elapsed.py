"""The elapsed view: the leader's timeline, whose parts add up to the wall time.

CPU, own block-I/O delay and run-queue wait are the kernel's counters; sleep,
steal and the share of interrupts come from the scheduler trace, and only where
that trace is trusted (its switch-ins equal the counter of slices). No part is
computed from the wall time, so what they leave is a true residue, shown with
its sign.

The counters are read at rest, some time after the second clock, and a leader
works on after its client has the result: it frees memory and reports
statistics. The trace tells how long, and that much is taken off here; the
resources view keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tare._probe import Process, Timeline
from tare.measure.lacks import Cause, Lack
from tare.measure.records import Elapsed

_AROUND_NS = 5_000_000
"""Time outside the clocks in which the leader may have waited between its two readings. A block-I/O delay longer than
this and the time that no other part explains is none that it can have had. Linux 6.18 counts such (see
`resources.can_have_waited_ns`)."""


@dataclass(frozen=True, slots=True)
class LeaderReading:
    """The leader's thread at one per-process snapshot."""

    process: Process
    timeline: Timeline | None


@dataclass(frozen=True, slots=True)
class Traced:
    """Figures that only the trace has: of the clocked interval, and of the time after it. ns."""

    sleep: int
    steal: int
    interrupt: int
    tail_cpu: int
    tail_run_queue: int
    tail_block_io: int


def elapsed_view(
    clock_1: int,
    clock_2: int,
    before: LeaderReading,
    at_clock_2: Timeline | None,
    after: LeaderReading,
    no_trace: str,
    no_delay: str,
) -> Elapsed:
    """`no_trace`, `no_delay`: why there is no scheduler trace or no delay accounting here."""
    why: dict[str, Lack] = {}
    trace = _traced(clock_1, clock_2, before.timeline, at_clock_2, after.timeline)
    traced = trace if isinstance(trace, Traced) else None
    rejection = trace if isinstance(trace, Lack) else None
    if traced is None:
        why["sleep"] = why["steal"] = why["interrupt"] = rejection or Lack(Cause.NO_TRACE, no_trace)
        why["residue"] = rejection or Lack(Cause.SLEEP_UNKNOWN)
    if (cpu := _used(before, after, "run_ns", traced.tail_cpu if traced else 0)) is None:
        why["cpu"] = Lack(Cause.NO_RUN_TIME)
    if (run_queue := _used(before, after, "run_queue_ns", traced.tail_run_queue if traced else 0)) is None:
        why["run_queue"] = Lack(Cause.NO_RUN_QUEUE)
    sleep, steal = (traced.sleep, traced.steal) if traced else (None, None)
    rest = clock_2 - clock_1 - sum(part for part in (cpu, run_queue, sleep, steal) if part is not None)
    if (block_io := _used(before, after, "block_io_ns", traced.tail_block_io if traced else 0)) is None:
        why["block_io"] = Lack(Cause.NO_DELAYS, no_delay) if no_delay else Lack(Cause.BORN_BEFORE_DELAYS)
    elif block_io > rest + _AROUND_NS:
        block_io, rejection = None, Lack(Cause.IMPOSSIBLE_DELAY)
        why["block_io"] = why["residue"] = rejection
    user, system = _split(before, after, cpu)
    return Elapsed(
        wall_ns=clock_2 - clock_1,
        cpu_ns=cpu,
        user_ns=user,
        system_ns=system,
        interrupt_ns=traced.interrupt if traced else None,
        block_io_ns=block_io,
        run_queue_ns=run_queue,
        sleep_ns=sleep,
        steal_ns=steal,
        # Among QEs that have all their parts, one that lacks some would have another kind of residue.
        residue_ns=None if rejection else rest - (block_io or 0),
        why=why,
    )


def with_throttle(elapsed: Elapsed, throttled_ns: int | None) -> Elapsed:
    """Take out of the run-queue wait what was spent with the quota used up.

    `throttled_ns` is of the leader's control groups between the snapshots, over all CPUs: where several were throttled
    at a time, what the leader waited for them is at most that. None if it could not be read."""
    if throttled_ns is None:
        return replace(elapsed, throttled_ns=None, why={**elapsed.why, "throttled": Lack(Cause.NO_THROTTLE)})
    if not throttled_ns or elapsed.run_queue_ns is None:
        return elapsed
    throttled = min(throttled_ns, elapsed.run_queue_ns)
    return replace(elapsed, throttled_ns=throttled, run_queue_ns=elapsed.run_queue_ns - throttled)


def _traced(
    clock_1: int, clock_2: int, one: Timeline | None, end: Timeline | None, two: Timeline | None
) -> Traced | Lack | None:
    """None where there is no trace; a lack where it is rejected."""
    if one is None or end is None or two is None:
        return None
    traced, counted = two.switch_ins - one.switch_ins, two.slices - one.slices
    if traced != counted:
        return Lack(Cause.TRACE_REJECTED, switch_ins=traced, slices=counted)
    slept = end.sleep_ns - one.sleep_ns + end.other_wait_ns - one.other_wait_ns
    if one.state == "sleep":
        slept -= clock_1 - one.as_of_ns
    if end.state == "sleep":
        slept -= end.as_of_ns - max(end.since_ns, clock_2)
    running = end.as_of_ns - clock_2 if end.state == "on_cpu" else 0
    return Traced(
        sleep=slept,
        steal=end.stolen_ns - one.stolen_ns,
        interrupt=end.interrupted_ns - one.interrupted_ns,
        tail_cpu=running + (two.on_cpu_ns - end.on_cpu_ns) - (two.stolen_ns - end.stolen_ns),
        tail_run_queue=two.run_queue_ns - end.run_queue_ns,
        tail_block_io=two.block_io_ns - end.block_io_ns,
    )


def _used(before: LeaderReading, after: LeaderReading, name: str, tail: int) -> int | None:
    one, two = getattr(before.process, name), getattr(after.process, name)
    return None if one is None or two is None else two - one - tail


def _split(before: LeaderReading, after: LeaderReading, cpu: int | None) -> tuple[int | None, int | None]:
    """The sampled split of the CPU time, by the shares of the whole difference."""
    user, system = _used(before, after, "user_ns", 0), _used(before, after, "system_ns", 0)
    if user is None or system is None or cpu is None or user + system <= 0:
        return user, system
    share = round(cpu * user / (user + system))
    return share, cpu - share
