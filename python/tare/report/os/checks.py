"""Conservation: counts of the trace against the kernel's own counters of the same threads, and parts against sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tare.os.level import Level
from tare.os.record import Call, RoleCounts
from tare.report.os.document import Check, CheckKind, CheckResult

TOLERANCE = 0.01

READ_COUNTED = (
    "read", "pread64", "readv", "preadv", "preadv2", "sendfile", "sendfile64", "copy_file_range",
)  # fmt: skip
"""System calls whose results the kernel adds to rchar in /proc/PID/io. Receives on sockets (recvfrom, recvmsg), splice
and io_uring are not in it."""

WRITE_COUNTED = (
    "write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "sendfile64", "copy_file_range",
)  # fmt: skip
"""System calls whose results the kernel adds to wchar. Sends on sockets (sendto, sendmsg) are not in it."""

_LEAST = {CheckKind.PARTS: 10e6, CheckKind.SCHEDULER: 10e6}
_LEAST_BYTES = 64 * 1024
"""Sizes below which 1% is finer than the ends of a window: 10 ms, 64 KiB."""


def checks(query: str, total: RoleCounts, level: Level, *, cold: bool, page_bytes: int) -> Iterator[Check]:
    """Return the checks that the observation allows. `total`: sums over roles and executions, without lost parts."""
    times, kept, calls = total.times, total.kept, total.calls
    if level is not Level.PROC:
        if times.residue_ns is not None:
            yield _check(CheckKind.PARTS, query, times.present_ns - times.residue_ns, times.present_ns)
        if None not in (times.run_queue_ns, kept.run_ns, kept.run_delay_ns):
            yield _check(
                CheckKind.SCHEDULER,
                query,
                times.on_cpu_ns + (times.run_queue_ns or 0),
                (kept.run_ns or 0) + (kept.run_delay_ns or 0),
            )
    if calls is not None and kept.read_chars is not None:
        yield _check(CheckKind.READ_BYTES, query, _moved(calls, READ_COUNTED), kept.read_chars)
    if calls is not None and kept.write_chars is not None:
        yield _check(CheckKind.WRITE_BYTES, query, _moved(calls, WRITE_COUNTED), kept.write_chars)
    if total.disk is None:
        return
    if kept.read_bytes is not None:
        yield _check(CheckKind.DISK_READS, query, total.disk.read_bytes, kept.read_bytes)
    if cold and (cache := total.cache) is not None:
        brought = (cache.missed + cache.ahead + cache.mapped) * page_bytes
        yield _check(CheckKind.PAGES, query, brought, total.disk.read_bytes)


def _moved(calls: Mapping[str, Call], names: tuple[str, ...]) -> int:
    return sum(call.bytes for name, call in calls.items() if name in names)


def _check(kind: CheckKind, query: str, observed: int, expected: int) -> Check:
    quotient = observed / expected if expected else None
    if max(observed, expected) < _LEAST.get(kind, _LEAST_BYTES):
        result = CheckResult.TOO_SMALL
    elif quotient is not None and abs(quotient - 1) <= TOLERANCE:
        result = CheckResult.WITHIN
    else:
        result = CheckResult.OUTSIDE
    return Check(kind=kind, query=query, observed=observed, expected=expected, ratio=quotient, result=result)
