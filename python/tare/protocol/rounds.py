"""When an interleaved comparison has seen enough: its stopping rule, asked after every round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import scipy.stats  # noqa: F401  what `compare` needs is loaded now, not between two rounds

from tare.measure.records import QE
from tare.protocol.compare import compare
from tare.protocol.measures import Measure
from tare.protocol.stop import Stop

Enough = Callable[[Sequence[Sequence[QE]]], bool]


def enough(measure: Measure, stop: Stop | None, runs: int) -> Enough:
    """Without a rule, `runs` retained QEs of each query are enough."""

    def asked(queries: Sequence[Sequence[QE]]) -> bool:
        fewest = min(len(qes) for qes in queries)
        if stop is None:
            return fewest >= runs
        if fewest < stop.min_runs:
            return False
        a, b = ([value for qe in qes if (value := measure.read(qe)) is not None] for qes in queries)
        # A measure that is never read has no interval: patience alone ends the run.
        return stop.after(compare(a, b)) if a and b else stop.enough(fewest, None)

    return asked
