"""Two readings of a source, and what happened per second between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tare.workload.oltp.measures.names import NAMES
from tare.workload.oltp.run import Measure

SECOND_NS = 1_000_000_000
_LEAST_NS, _MOST_NS = SECOND_NS // 2, SECOND_NS * 3 // 2  # between two readings: else it is no second's rate


@dataclass(frozen=True, slots=True)
class Reading:
    """Values of a source at a moment, by names of NAMES: counters as they stand, gauges as they are."""

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
