"""Work of Tare's own beside a load, at a low priority: CPU time that the load does not need is Tare's first choice.

Probes are set, and what they send is received, at the usual priority: a server with half of its probes on, or with full
buffers, is not to wait for a CPU. Nothing changes without the right to raise a priority again (CAP_SYS_NICE), which
whoever may attach usually has.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

NICE = 10
"""Nice value: beside one thread of the load a CPU gives it a tenth of its time."""

USUAL = os.getpriority(os.PRIO_PROCESS, 0)
"""Nice value before any block."""


@contextmanager
def background() -> Iterator[None]:
    """Lower the calling thread's priority within the block, and that of threads started in it."""
    with _at(lambda before: max(before, NICE)):
        yield


@contextmanager
def foreground() -> Iterator[None]:
    """Give the calling thread, and threads started in the block, the process's usual priority again."""
    with _at(lambda _: USUAL):
        yield


@contextmanager
def _at(value_of: Callable[[int], int]) -> Iterator[None]:
    thread = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, thread)
    value = value_of(before)
    if value == before or not _may_raise():
        yield
        return
    os.setpriority(os.PRIO_PROCESS, thread, value)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, thread, before)


@cache
def _may_raise() -> bool:
    """Whether a thread may take back what it gave: tried with one that ends afterwards."""

    def tried() -> bool:
        thread = threading.get_native_id()
        usual = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(usual + 1, 19))
        try:
            os.setpriority(os.PRIO_PROCESS, thread, usual)
        except PermissionError:
            return False
        return True

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(tried).result()
