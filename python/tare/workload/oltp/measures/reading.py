"""Readings of a source, one at each beginning of a second, and what happened per second between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tare.workload.oltp.measures.names import NAMES
from tare.workload.oltp.run import Measure

SECOND_NS = 1_000_000_000
_LEAST_NS, _MOST_NS = SECOND_NS // 2, SECOND_NS * 3 // 2  # between two readings: else it is no second's rate


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading of a source at one moment, by names of NAMES: counters as they stand, gauges as they are."""

    at_ns: int  # CLOCK_MONOTONIC
    values: Mapping[str, float]


def measures(readings: list[Reading], started_ns: int) -> Iterator[Measure]:
    """For each second that has a reading at about its beginning and one at about its end. Warm-up has numbers
    below 0; a counter that fell back (its server was started anew) has no measure."""
    told: set[tuple[int, str]] = set()
    for before, after in pairwise(readings):
        length = after.at_ns - before.at_ns
        if not _LEAST_NS <= length <= _MOST_NS:
            continue
        second = ((before.at_ns + after.at_ns) // 2 - started_ns) // SECOND_NS
        for name, value in _values(before, after, length / SECOND_NS):
            if (second, name) not in told:
                told.add((second, name))
                yield Measure(second, name, value, NAMES[name].unit)


def _values(before: Reading, after: Reading, seconds: float) -> Iterator[tuple[str, float]]:
    for name, value in after.values.items():
        if not NAMES[name].counter:
            yield name, value
        elif name in before.values and value >= before.values[name]:
            yield name, (value - before.values[name]) / seconds


class Ticker:
    """Reads a source in a thread of its own: a server that stalls stalls no other source."""

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
