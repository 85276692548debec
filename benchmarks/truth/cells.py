"""Cells that are measured: where, which query, in which cache state, with which noise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.noise import hog, reader, running
from tare.measure.choices import CacheState
from tare.measure.machine.interrupts import read as interrupts

LOAD = (
    "CREATE TABLE wide AS SELECT i AS id, i % 97 AS grp, repeat('x', 300) AS pad FROM generate_series(1, {rows}) AS i",
    "CREATE UNIQUE INDEX ON wide (id)",
    "VACUUM ANALYZE wide",
    "CHECKPOINT",
)
# Read ahead of the query in long requests, and one page after the other as the query asks for it.
QUERIES = (
    ("scan", "SELECT grp, count(*), sum(id) FROM wide GROUP BY grp"),
    (
        "lookups",
        "SELECT sum(grp) FROM generate_series(1, {lookups}) AS i JOIN wide ON id = 1 + i::bigint * 7919 % {rows}",
    ),
)
NOISES: tuple[str, ...] = ("none", "cpu hog", "reader", "both")
CACHES = (CacheState.WARM, CacheState.COLD)


@dataclass(frozen=True)
class SetUp:
    """CPUs that the query runs on, and how PostgreSQL reads."""

    name: str
    cpus: frozenset[int]
    io_method: str


@dataclass(frozen=True)
class Cell:
    set_up: SetUp
    query: str
    cache: CacheState
    noise: str


def set_ups() -> tuple[SetUp, ...]:
    """On the CPU that takes the fewest interrupts, and on all."""
    online = frozenset(os.sched_getaffinity(0))
    seen = interrupts()
    quiet = min(online, key=lambda cpu: (seen.share({cpu}), cpu))
    return (
        SetUp("one CPU", frozenset({quiet}), "sync"),
        SetUp(f"{len(online)} CPUs", online, "sync"),
        SetUp(f"{len(online)} CPUs, I/O workers", online, "worker"),
    )


@contextmanager
def confined(cpus: frozenset[int]) -> Iterator[None]:
    """We, and whoever we start."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def noise_of(cell: Cell, file: str) -> ExitStack:
    stack = ExitStack()
    if cell.noise in ("cpu hog", "both"):
        for cpu in cell.set_up.cpus:
            stack.enter_context(running(hog, cpu))
    if cell.noise in ("reader", "both"):
        stack.enter_context(running(reader, file))
    return stack
