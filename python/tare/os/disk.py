"""Block requests of an interval, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tare.os.record import Disk, Histogram

if TYPE_CHECKING:
    from tare._probe import OsRequest

_SECTOR_BYTES = 512


def disk_of(requests: Sequence[OsRequest], outstanding: int = 0) -> Disk:
    """Return the sums over requests of one role, or of the kernel's threads. `outstanding`: further ones, not done."""
    ordered = sorted(requests, key=lambda one: one.submitted_ns)
    reads = [request for request in ordered if not request.write]
    writes = [request for request in ordered if request.write]
    return Disk(
        reads=len(reads),
        read_bytes=sum(request.bytes for request in reads),
        sequential=_sequential(reads),
        writes=len(writes),
        write_bytes=sum(request.bytes for request in writes),
        queued_ns=sum(max(0, request.issued_ns - request.submitted_ns) for request in ordered),
        device_ns=sum(max(0, request.done_ns - request.issued_ns) for request in ordered),
        read_sizes=histogram(request.bytes for request in reads),
        read_gaps=histogram(
            (later.submitted_ns - earlier.submitted_ns) // 1000 for earlier, later in pairwise(reads)
        ),
        outstanding=outstanding,
    )


def histogram(values: Iterable[int]) -> Histogram:
    """Return how many values there are by power of two. 0 counts under -1."""
    return Histogram(buckets=tuple(sorted(Counter(value.bit_length() - 1 for value in values).items())))


def busy_ns(requests: Iterable[OsRequest], begin_ns: int, end_ns: int) -> int:
    """Return the time within an interval in which a request was submitted and not done."""
    busy, until = 0, begin_ns
    for request in sorted(requests, key=lambda one: one.submitted_ns):
        start, stop = max(request.submitted_ns, until), min(request.done_ns, end_ns)
        if stop > start:
            busy += stop - start
            until = stop
    return busy


def _sequential(reads: Iterable[OsRequest]) -> int:
    """Count reads that begin where the last one of the same thread on the same device ended."""
    ends: dict[tuple[int, int], int] = {}
    count = 0
    for read in reads:
        key = (read.tid, read.device)
        count += ends.get(key) == read.sector
        ends[key] = read.sector + read.bytes // _SECTOR_BYTES
    return count
