"""Threads of a program that works until SIGTERM, notes when each transaction ended, and checks its data at the end.

`python -m … ENDS …`: instants of CLOCK_MONOTONIC in ns go to the file ENDS as eight bytes each; the last line of
standard output is a JSON object with what was counted, what failed otherwise than it was meant to, and what the data
contradict.
"""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import sys
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

USER = "nobody"
MOST_SURPRISES = 20
EVERY_S = 0.05
LONGEST_ANSWER_S = 10.0


class Work:
    """Counts of all threads."""

    def __init__(self, ends: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.surprises: list[str] = []
        self._ends = array("q")
        self._file = ends.open("wb", buffering=0)
        self._stop = threading.Event()
        self._guard = threading.Lock()
        signal.signal(signal.SIGTERM, lambda *_: self._stop.set())

    def goes_on(self) -> bool:
        return not self._stop.is_set()

    def count(self, what: str) -> None:
        with self._guard:
            self.counts[what] += 1

    def ended(self, what: str) -> None:
        """A transaction of the load."""
        with self._guard:
            self.counts[what] += 1
            self._ends.append(time.monotonic_ns())

    def expect(
        self, error: type[BaseException] | tuple[type[BaseException], ...], act: Callable[[], object]
    ) -> None:
        """It fails so, and not otherwise."""
        try:
            act()
        except error as expected:
            self.count(type(expected).__name__)
        except Exception as other:
            self._surprised(f"{error}: {other!r}")
        else:
            self._surprised(f"{error}: nothing failed")

    def expect_or(self, error: type[BaseException], act: Callable[[], object]) -> None:
        """It succeeds, or fails so."""
        try:
            act()
        except error as expected:
            self.count(type(expected).__name__)
        else:
            self.count("succeeded")

    def _surprised(self, what: str) -> None:
        with self._guard:
            self.counts["unexpected"] += 1
            if len(self.surprises) < MOST_SURPRISES:
                self.surprises.append(what)

    def together(self, *jobs: Callable[[], None]) -> None:
        """Each in a thread of its own, until SIGTERM."""
        threads = [threading.Thread(target=self._do, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        while self.goes_on():
            time.sleep(0.1)
            with self._guard:
                ends, self._ends = self._ends, array("q")
            self._file.write(ends.tobytes())
        for thread in threads:
            thread.join()
        self._file.write(self._ends.tobytes())

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            self._surprised(f"a thread ended: {error!r}")

    def checked(self, **facts: tuple[Any, Any]) -> list[str]:
        """Facts that are not as they have to be."""
        return [f"{name} is {seen!r}, not {due!r}" for name, (seen, due) in facts.items() if seen != due]


class Gone(Exception):
    """The server closed the connection."""


class Connection:
    """Connection to a server by its socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LONGEST_ANSWER_S)
        self._socket.connect(path)
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def interrupts(interrupt: Callable[[], object]) -> Iterator[None]:
    """Within the block, again and again: what comes before a statement has begun acts upon nothing."""
    over = threading.Event()

    def again() -> None:
        while not over.wait(EVERY_S):
            interrupt()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main(run: Callable[[Work], list[str]]) -> None:
    """Runs as an ordinary user."""
    work = Work(Path(sys.argv[1]))
    if os.geteuid() == 0:
        ordinary = pwd.getpwnam(USER)
        os.setgroups([])
        os.setgid(ordinary.pw_gid)
        os.setuid(ordinary.pw_uid)
    wrong = run(work)
    print(json.dumps({"counts": work.counts, "surprises": work.surprises, "wrong": wrong}))
