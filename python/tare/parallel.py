"""Work in threads that an interrupt waits for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tare.interruption import deferred

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> list[Result]:
    """Return the results of `work`, in the order of the items. `threads`: None: one for each CPU.

    If one fails, or a signal comes, items that have not begun are left out; it is raised when the others have ended."""
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        with deferred():  # a thread whose start is interrupted would be among those that nobody waits for
            futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
