"""The directory of journals for one run at a time. Waits are reported, limited, and ended by a signal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import SettingsBusy
from tare.interruption import check, deferred
from tare.measure.machine.putback.lock import Lock, locked

REPORT_S = 1.0
"""Wait after which the holder is named."""

LIMIT_S = 30.0
"""Longest wait. A run has the lock for milliseconds: longer, and its process stands still."""


@contextmanager
def exclusive(directory: Path, limit_s: float = LIMIT_S) -> Iterator[None]:
    """Block in which no other run reads or changes the directory, and no signal is raised.

    Raises SettingsBusy if another run keeps it for longer than `limit_s`."""
    with deferred(), locked(directory, _Wait(limit_s)):
        yield


class _Wait:
    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._reported = False

    def __call__(self, lock: Lock, waited_s: float) -> None:
        check()
        if waited_s > self._limit_s:
            raise SettingsBusy(
                f"{holder_of(lock)} has kept {lock.path} locked for {self._limit_s:g} s",
                "end that process, or continue it if it was stopped (`kill -CONT`)",
            )
        if waited_s > REPORT_S and not self._reported:
            self._reported = True
            left = f"gives up after {self._limit_s:g} s"
            print(
                f"tare: waits for the machine's settings: {holder_of(lock)} has {lock.path} locked; {left}",
                file=sys.stderr,
                flush=True,
            )


def holder_of(lock: Lock) -> str:
    """The holder in words."""
    holder = lock.holder()
    return "another process" if holder is None else str(holder)
