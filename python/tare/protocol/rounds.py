"""When an interleaved comparison has seen enough: its stopping rule, asked after every round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tare.measure.records import QE
from tare.protocol.compare import ratio_of
from tare.protocol.measures import Measure
from tare.protocol.stop import Stop, width_of_ratio

Enough = Callable[[Sequence[Sequence[QE]]], bool]


def enough(measure: Measure, stop: Stop | None, runs: int) -> Enough:
    """Without a rule, `runs` retained QEs of each query are enough; with one, all pairs of queries must satisfy it."""

    def asked(queries: Sequence[Sequence[QE]]) -> bool:
        fewest = min(len(qes) for qes in queries)
        if stop is None:
            return fewest >= runs
        if fewest < stop.min_runs:
            return False
        return all(_enough(stop, measure, queries[place : place + 2]) for place in range(0, len(queries), 2))

    return asked


def _enough(stop: Stop, measure: Measure, pair: Sequence[Sequence[QE]]) -> bool:
    a, b = ([value for qe in qes if (value := measure.read(qe)) is not None] for qes in pair)
    # A measure that is never read has no interval: patience alone ends the run.
    if not a or not b:
        return stop.enough(min(len(qes) for qes in pair), None)
    return stop.enough(min(len(a), len(b)), width_of_ratio(ratio_of(a, b)))
