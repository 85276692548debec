"""Looks at a run whose blocks are sessions: each runs the baseline twice and the candidate once in every round."""

from __future__ import annotations

import statistics
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence

from tare.measure.records import QE
from tare.protocol.comparison.looks import MOST_BLOCKS, Claim, Look, Verdict, look, look_at
from tare.protocol.measures import Measure

ROUNDS = 5
"""Rounds in a session. Its figure is their median, so that a neighbour's short burst does not decide."""

BASELINE, CANDIDATE, AGAIN = range(3)
"""Places of a query's arms in a run."""


ARMS = 3
"""QEs of a query in a round."""


class SessionLooks:
    """Looks at a run while it continues: one comparison for each query of a set."""

    def __init__(
        self,
        measure: Measure,
        claim: Claim,
        most_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.measure = measure
        self.claim = claim
        self.latest: list[Look] = []
        """For each query the look that decided it, else the last one. Empty: none was taken."""
        self._most_s = most_s
        self._clock = clock
        self._begin = clock()
        self._rounds = 0
        self._looks = 0
        self._seen = 0  # blocks at the last look

    def enough(self, starts: Sequence[int], queries: Sequence[Sequence[QE]]) -> bool:
        """Whether the run may end. Called after every round with the index of the first QE of each block, and the
        retained QEs of each query: baseline, candidate and baseline again, query by query."""
        self._rounds += 1
        if self._rounds % ROUNDS:
            return False
        blocks = self._rounds // ROUNDS
        spent = self._clock() - self._begin
        is_last = blocks >= MOST_BLOCKS or spent * (blocks + 1) / blocks > self._most_s
        if blocks < look_at(self._looks + 1) and not is_last:
            return False
        self._look_at_all(starts, queries)
        return is_last or all(one.verdict is not Verdict.UNDECIDED for one in self.latest)

    def conclude(self, starts: Sequence[int], queries: Sequence[Sequence[QE]]) -> None:
        """Look at the whole blocks of a run that was cut short, unless the last look was at these. Takes what `enough`
        takes."""
        if self._rounds // ROUNDS > self._seen:
            self._look_at_all(starts, queries)

    def _look_at_all(self, starts: Sequence[int], queries: Sequence[Sequence[QE]]) -> None:
        blocks = self._rounds // ROUNDS
        self._looks += 1
        groups = [queries[place : place + ARMS] for place in range(0, len(queries), ARMS)]
        looks = [
            self._look(block_figures(group, starts, blocks, self.measure), len(groups)) for group in groups
        ]
        self.latest = [
            earlier if earlier.verdict is not Verdict.UNDECIDED else now
            for earlier, now in zip(self.latest or looks, looks, strict=True)
        ]
        self._seen = blocks

    def _look(self, figures: Sequence[Sequence[float]], comparisons: int) -> Look:
        return look(
            self._looks, figures[BASELINE], figures[AGAIN], figures[CANDIDATE], self.claim, comparisons
        )


def block_figures(
    queries: Sequence[Sequence[QE]], starts: Sequence[int], blocks: int, measure: Measure
) -> list[list[float]]:
    """Median of each query's QEs in each of the first blocks. A block in which a query has no figure is left out for
    all."""
    samples: list[dict[int, list[float]]] = [{} for _ in queries]
    for own, qes in zip(samples, queries, strict=True):
        for qe in qes:
            value = measure.read(qe)
            number = bisect_right(starts, qe.index)
            if value is not None and number <= blocks:
                own.setdefault(number, []).append(value)
    whole = sorted(set.intersection(*(set(own) for own in samples)))
    return [[statistics.median(own[block]) for block in whole] for own in samples]
