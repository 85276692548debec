"""Observations with round numbers: q6 on a back end that waits for the disk, and an I/O worker that reads for it."""

from __future__ import annotations

from typing import Any

from tare.os.level import Level
from tare.os.record import (
    Call,
    Disk,
    Histogram,
    Kept,
    Observation,
    PageCache,
    RoleCounts,
    Sockets,
    Times,
    Window,
)

MS = 1_000_000
PAGE = 4096
PAGES = 25_600
"""Pages of 100 MiB."""


def times(user: int, system: int | None, queue: int, disk: int, sleep: int) -> Times:
    """Times of a role without residue, ms."""
    on_cpu = user + (system or 0)
    return Times(
        present_ns=(on_cpu + queue + disk + sleep) * MS, on_cpu_ns=on_cpu * MS, run_queue_ns=queue * MS,
        sleep_ns=sleep * MS, block_io_ns=disk * MS, system_ns=None if system is None else system * MS,
    )  # fmt: skip


def back_end(**changes: Any) -> RoleCounts:
    """Active for 800 of 1000 ms: 200 user, 100 system, 40 run queue, 460 disk."""
    counts = RoleCounts(
        node="",
        role="back end",
        threads=1,
        times=times(200, 100, 40, 460, 200),
        kept=Kept(
            run_ns=300 * MS, run_delay_ns=40 * MS, read_chars=PAGES * PAGE, write_chars=0, read_calls=800,
            write_calls=0, read_bytes=PAGES * PAGE, write_bytes=8 * PAGE, minor_faults=90, major_faults=10,
        ),
        calls={
            "pread64": Call(count=800, bytes=PAGES * PAGE, on_cpu_ns=80 * MS, block_io_ns=460 * MS),
            "futex": Call(count=10, errors=1, on_cpu_ns=15 * MS, sleep_ns=50 * MS),
            "recvfrom": Call(count=2, bytes=200, on_cpu_ns=5 * MS, sleep_ns=150 * MS),
        },
        cache=PageCache(reads=800, requested=PAGES, missed=100, in_flight=15_360, ahead=PAGES - 100),
        disk=Disk(
            reads=200, read_bytes=PAGES * PAGE, sequential=190, queued_ns=20 * MS, device_ns=400 * MS,
            read_sizes=Histogram(buckets=((12, 20), (19, 180))), read_gaps=Histogram(buckets=((-1, 1), (11, 198))),
        ),
        sockets=Sockets(sends=2, sent_bytes=300, receives=2, received_bytes=200),
    )  # fmt: skip
    return counts.model_copy(update=changes)


def worker(**changes: Any) -> RoleCounts:
    """Asleep for 980 of 1000 ms."""
    counts = RoleCounts(
        node="",
        role="I/O worker",
        threads=3,
        times=times(15, 5, 0, 0, 2980),
        kept=Kept(run_ns=20 * MS),
        calls={"futex": Call(count=5, on_cpu_ns=5 * MS, sleep_ns=2980 * MS)},
        cache=PageCache(in_flight=0),
        disk=Disk(),
        sockets=Sockets(),
    )
    return counts.model_copy(update=changes)


def window(name: str = "q6", number: int = 0, wall: int = 1000, **changes: Any) -> Window:
    """An execution of `wall` ms that is traced."""
    made = Window(
        name=name,
        number=number,
        is_traced=True,
        started_at="2026-11-29T12:00:00+00:00",
        wall_ns=wall * MS,
        read_ns=1000 * MS,
        io_busy_ns=500 * MS,
        io_on_cpu_ns=100 * MS,
        roles=(back_end(), worker()),
        packets_in=300,
        packets_out=200,
        write_back=Disk(writes=3, write_bytes=3 * PAGE),
    )
    return made.model_copy(update=changes)


def untraced(name: str = "q6", number: int = 0, wall: int = 1000, run: int = 300) -> Window:
    """The same without tracing: the kernel's counters alone; `run`: CPU time, ms."""
    roles = (RoleCounts(node="", role="back end", threads=1, times=Times(), kept=Kept(run_ns=run * MS)),)
    return window(name, number, wall, is_traced=False, roles=roles)


def observation(*windows: Window, **changes: Any) -> Observation:
    made = Observation(
        level=Level.FULL,
        subject="PostgreSQL 18.4 (postgresql:///tpch)",
        dbms="postgresql",
        server_version="18.4",
        url="postgresql:///tpch",
        started_at="2026-11-29T12:00:00+00:00",
        online_cpus=2,
        page_bytes=PAGE,
        kernel="6.18.0",
        windows=windows or (window(),),
        queries={"q6": "SELECT sum(l_extendedprice) FROM lineitem"},
        cold=True,
        read_ahead_kb=128,
    )
    return made.model_copy(update=changes)
