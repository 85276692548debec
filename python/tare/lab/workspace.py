"""A DuckDB to analyse a lab in: bounded in memory, and beyond that on disk, in a folder that goes with it."""

from __future__ import annotations

import os
import weakref

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
