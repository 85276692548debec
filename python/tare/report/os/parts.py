"""Parts of a query's report, from sums of counts over its executions: each figure is divided by their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.os.record import Call, Disk, PageCache, RoleCounts, Sockets, Times, Window
from tare.protocol.statistics import summarise
from tare.report.os.document import (
    CacheReport,
    CallRow,
    CallShare,
    CallsReport,
    DiskReport,
    Estimate,
    Part,
    Rate,
    ReadCalls,
    SocketsReport,
    SystemProfile,
    TimeParts,
)
from tare.report.os.paper import TABLE_1, TABLE_2

READ_CALLS = ("read", "pread64", "readv", "preadv", "preadv2")
"""System calls that read into a buffer, from a file or, for read and readv, from a socket too."""

MOST_CALLS = 12
"""Kinds of call of a role that a report names; the others are summed."""

TOP_CALLS = 4
"""Kinds of call in Table 1."""

BLOCK_BYTES = 4096
JIFFIES_PER_S = 100


def ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def estimate(values: Sequence[float]) -> Estimate:
    """Return the median of one value or more."""
    summary = summarise(values)
    assert summary.median is not None
    interval = summary.interval
    return Estimate(
        median_ns=summary.median,
        low_ns=None if interval is None else interval.low,
        high_ns=None if interval is None else interval.high,
    )


# Time ------------------------------------------------------------------------------------
def part_ns(times: Times, part: Part) -> int | None:
    match part:
        case Part.CPU:
            return times.on_cpu_ns
        case Part.USER:
            return times.user_ns
        case Part.SYSTEM:
            return times.system_ns
        case Part.RUN_QUEUE:
            return times.run_queue_ns
        case Part.DISK:
            return times.block_io_ns
        case Part.SLEEP:
            return times.sleep_ns
        case Part.OTHER:
            return times.other_wait_ns
        case Part.RESIDUE:
            return times.residue_ns


def time_parts(counts: RoleCounts, executions: int) -> TimeParts:
    times = counts.times
    sums = {part: part_ns(times, part) for part in Part}
    return TimeParts(
        threads=counts.threads / executions,
        present_ns=times.present_ns / executions,
        parts_ns={part: None if sum_ns is None else sum_ns / executions for part, sum_ns in sums.items()},
        shares={part: ratio(sum_ns, times.present_ns) for part, sum_ns in sums.items()},
    )


def total_parts(counts: RoleCounts, windows: Sequence[Window]) -> TimeParts:
    """Return the parts of the sum over all roles, with the estimates over executions."""
    totals = [window.total().times for window in windows]
    each = {part: [part_ns(times, part) for times in totals] for part in Part}
    estimates = {
        part: estimate([value for value in values if value is not None])
        for part, values in each.items()
        if None not in values
    }
    return time_parts(counts, len(windows)).model_copy(update={"estimates": estimates})


# Calls -----------------------------------------------------------------------------------
def calls_report(calls: Mapping[str, Call], executions: int) -> CallsReport:
    by_cpu = sorted(calls, key=lambda name: (-calls[name].on_cpu_ns, name))
    rest = by_cpu[MOST_CALLS:]
    summed = Call()
    for name in rest:
        summed = summed + calls[name]
    return CallsReport(
        rows=tuple(_call_row(name, calls[name], executions) for name in by_cpu[:MOST_CALLS]),
        others=_call_row("", summed, executions) if rest else None,
        other_kinds=len(rest),
    )


def _call_row(name: str, call: Call, executions: int) -> CallRow:
    return CallRow(
        name=name,
        count=call.count / executions,
        errors=call.errors / executions,
        bytes=call.bytes / executions,
        on_cpu_ns=call.on_cpu_ns / executions,
        on_cpu_each_ns=ratio(call.on_cpu_ns, call.count),
        run_queue_ns=call.run_queue_ns / executions,
        block_io_ns=call.block_io_ns / executions,
        sleep_ns=(call.sleep_ns + call.other_wait_ns) / executions,
    )


def read_calls_ns(calls: Mapping[str, Call]) -> int:
    """Return the CPU time in read calls."""
    return sum(call.on_cpu_ns for name, call in calls.items() if name in READ_CALLS)


def read_calls(query: str, total: RoleCounts, wall_ns: int) -> ReadCalls | None:
    """Return the query's row of Table 2."""
    if total.calls is None or not wall_ns:
        return None
    return ReadCalls(share=read_calls_ns(total.calls) / wall_ns, paper=TABLE_2.get(query.lower()))


# Table 1 ---------------------------------------------------------------------------------
def system_profile(
    query: str, total: RoleCounts, windows: Sequence[Window], is_disk_whole: bool
) -> SystemProfile | None:
    """Return the query's row of Table 1. `total`: sums over all roles of these windows."""
    wall_ns, read_ns = sum(window.wall_ns for window in windows), sum(window.read_ns for window in windows)
    if not wall_ns or not read_ns:
        return None
    kept = total.kept
    disk = total.disk if is_disk_whole else None

    def rate(count: float | None) -> Rate | None:
        if count is None:
            return None
        per_second = count * 1e9 / read_ns
        return Rate(per_second=per_second, per_jiffy=per_second / JIFFIES_PER_S)

    faults = rate(kept.minor_faults + kept.major_faults)
    assert faults is not None
    read_bytes = kept.read_bytes if disk is None else disk.read_bytes
    write_bytes = kept.write_bytes
    return SystemProfile(
        user=ratio(total.times.user_ns, wall_ns),
        system=ratio(total.times.system_ns, wall_ns),
        calls=None if total.calls is None else _top(total.calls),
        faults=faults,
        blocks_read=rate(ratio(read_bytes, BLOCK_BYTES)),
        blocks_written=rate(ratio(write_bytes, BLOCK_BYTES)),
        packets_sent=rate(_known_sum([window.packets_out for window in windows])),
        packets_received=rate(_known_sum([window.packets_in for window in windows])),
        cpu_during_io=_cpu_during_io(windows) if is_disk_whole else None,
        paper=TABLE_1.get(query.lower()),
    )


def _cpu_during_io(windows: Sequence[Window]) -> float | None:
    return ratio(
        _known_sum([window.io_on_cpu_ns for window in windows]),
        _known_sum([window.io_busy_ns for window in windows]),
    )


def _top(calls: Mapping[str, Call]) -> tuple[CallShare, ...]:
    """Return the calls with the most CPU time, with their shares in that of all calls."""
    all_ns = sum(call.on_cpu_ns for call in calls.values())
    by_cpu = sorted(calls, key=lambda name: (-calls[name].on_cpu_ns, name))[:TOP_CALLS]
    return tuple(
        CallShare(name=name, share=calls[name].on_cpu_ns / all_ns) for name in by_cpu if calls[name].on_cpu_ns
    )


def _known_sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


# Page cache, disk, sockets ---------------------------------------------------------------
def cache_report(cache: PageCache, executions: int) -> CacheReport:
    return CacheReport(
        reads=cache.reads / executions,
        requested=cache.requested / executions,
        ready=ratio(cache.ready, cache.requested),
        in_flight=ratio(cache.in_flight, cache.requested),
        missed=ratio(cache.missed, cache.requested),
        ahead=cache.ahead / executions,
        mapped=cache.mapped / executions,
    )


def disk_report(disk: Disk, executions: int) -> DiskReport:
    requests = disk.reads + disk.writes
    return DiskReport(
        reads=disk.reads / executions,
        read_bytes=disk.read_bytes / executions,
        mean_read_bytes=ratio(disk.read_bytes, disk.reads),
        sequential=ratio(disk.sequential, disk.reads),
        writes=disk.writes / executions,
        write_bytes=disk.write_bytes / executions,
        queued_ns=ratio(disk.queued_ns, requests),
        device_ns=ratio(disk.device_ns, requests),
        read_sizes=disk.read_sizes,
        read_gaps=disk.read_gaps,
    )


def sockets_report(sockets: Sockets, executions: int) -> SocketsReport:
    return SocketsReport(**{name: getattr(sockets, name) / executions for name in Sockets.model_fields})
