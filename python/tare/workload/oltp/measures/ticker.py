"""A reading at each beginning of a second, in a thread of its own: a server that stalls stalls no other source."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from tare.workload.oltp.measures.reading import SECOND_NS, Reading


class Ticker:
    def __init__(self, name: str, read: Callable[[], Mapping[str, float] | None]) -> None:
        """`read` raises nothing; None: there is nothing to be had now."""
        self.readings: list[Reading] = []
        self._read = read
        self._phase_ns = time.monotonic_ns()
        self._over = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def align(self, at_ns: int) -> None:
        """Seconds begin whole seconds before and after `at_ns` from now on."""
        with self._changed:
            self._phase_ns = at_ns
            self._changed.notify()

    def stop(self, wait_s: float) -> bool:
        """Whether it came to its end in time; it may hang on a server that has stopped to answer."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while self._wait():
            before = time.monotonic_ns()
            values = self._read()
            if values is not None:
                self.readings.append(Reading((before + time.monotonic_ns()) // 2, values))

    def _wait(self) -> bool:
        """To the next second, counted from when it is called. False: it is over."""
        with self._changed:
            asked_ns = time.monotonic_ns()
            while not self._over:
                past_ns = (asked_ns - self._phase_ns) % SECOND_NS
                left_ns = asked_ns - past_ns + SECOND_NS - time.monotonic_ns()
                if left_ns <= 0:
                    return True
                self._changed.wait(left_ns / SECOND_NS)
            return False
