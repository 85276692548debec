"""Block requests: sequences, gaps, sizes and the time in which one was outstanding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from tare.os.disk import busy_ns, disk_of, histogram
from tare.os.record import Histogram
from tests.unit.os.planted import Request

if TYPE_CHECKING:
    from tare._probe import OsRequest


def requests(*planted: Request) -> Sequence[OsRequest]:
    return cast("Sequence[OsRequest]", planted)


def test_a_read_is_sequential_where_the_threads_last_one_ended() -> None:
    disk = disk_of(
        requests(
            Request(5, sector=0, submitted_ns=1),
            Request(5, sector=8, submitted_ns=2),  # behind the first one
            Request(6, sector=16, submitted_ns=3),  # another thread
            Request(5, sector=16, submitted_ns=4, device=9),  # another device
            Request(5, sector=16, submitted_ns=5),  # behind the second one
            Request(5, sector=99, submitted_ns=6),
            Request(5, sector=107, submitted_ns=7, write=True),  # no read
        )
    )
    assert (disk.reads, disk.sequential, disk.writes) == (6, 2, 1)


def test_the_order_is_that_of_submissions() -> None:
    disk = disk_of(requests(Request(5, sector=8, submitted_ns=2), Request(5, sector=0, submitted_ns=1)))
    assert disk.sequential == 1


def test_gaps_are_microseconds_between_reads_of_a_role() -> None:
    at = (0, 500, 2_500, 10_500)
    disk = disk_of(requests(*(Request(tid, submitted_ns=ns) for tid, ns in enumerate(at))))
    assert disk.read_gaps == Histogram(buckets=((-1, 1), (1, 1), (3, 1)))


def test_sizes_count_by_power_of_two() -> None:
    disk = disk_of(requests(Request(5, bytes=4096), Request(5, bytes=8191), Request(5, bytes=8192)))
    assert disk.read_sizes == Histogram(buckets=((12, 2), (13, 1)))
    assert disk.read_bytes == 4096 + 8191 + 8192


def test_queue_and_device_times_are_apart() -> None:
    disk = disk_of(requests(Request(5, submitted_ns=10, issued_ns=13, done_ns=20)))
    assert (disk.queued_ns, disk.device_ns) == (3, 7)


def test_nothing_is_read_and_nothing_counted() -> None:
    disk = disk_of([])
    assert (disk.reads, disk.read_gaps.buckets) == (0, ())


@given(st.lists(st.integers(0, 2**40)))
def test_a_histogram_counts_every_value_once(values: list[int]) -> None:
    buckets = dict(histogram(values).buckets)
    assert sum(buckets.values()) == len(values)
    for exponent, count in buckets.items():
        low, high = (0, 1) if exponent < 0 else (2**exponent, 2 ** (exponent + 1))
        assert count == sum(low <= value < high for value in values)


def test_overlapping_requests_are_busy_once() -> None:
    planted = requests(
        Request(5, submitted_ns=10, done_ns=20),
        Request(6, submitted_ns=15, done_ns=30),
        Request(6, submitted_ns=16, done_ns=18),
        Request(6, submitted_ns=50, done_ns=60),
    )
    assert busy_ns(planted, 0, 100) == 30
    assert busy_ns(planted, 12, 55) == 23


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12), st.integers(0, 60))
def test_busy_time_is_the_union(spans: list[tuple[int, int]], end: int) -> None:
    planted = requests(*(Request(5, submitted_ns=start, done_ns=start + length) for start, length in spans))
    busy = {at for start, length in spans for at in range(start, start + length) if 10 <= at < end}
    assert busy_ns(planted, 10, end) == len(busy)
