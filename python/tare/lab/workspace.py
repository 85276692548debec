"""A DuckDB to analyse a lab in: bounded in memory, and beyond that on disk, in a folder that goes with it."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import ibis
from ibis.backends.duckdb import Backend

from tare.scratch import Scratch

MEMORY_LIMIT = "1500MB"
"""Limit of DuckDB's own buffers. The process stays under 2 GB with what Python, Arrow and the drivers take."""


def workspace() -> Backend:
    """Empty. Threads: as many as CPUs this process may run on."""
    folder = Scratch("tare-analysis-")
    backend = ibis.duckdb.connect(
        threads=cpus(),
        memory_limit=MEMORY_LIMIT,
        temp_directory=str(folder.path),
        preserve_insertion_order=False,  # no order is promised by a table; keeping one costs memory
    )
    weakref.finalize(backend, folder.remove)
    return backend


def cpus() -> int:
    return len(os.sched_getaffinity(0))


_SELDOM = (50_000, 20, 50)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """An analysis makes trees of a million small objects, and hardly one is garbage before the end: to look
    through them as often as usual takes a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
