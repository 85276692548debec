"""Price of a probe: the one of this machine, until the server has shown its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tare.profile.prices import Prices

PAIR_NS: Mapping[str, float] = {"attach": 3_500.0, "agent": 250.0, "xray": 250.0, "annotation": 250.0}
"""Entry and exit in a loaded server, ns of its CPUs (docs/profile-overhead.md). In a program that does nothing else a
pair of uprobes costs 1,900 ns if the kernel emulates both instructions, the agent's 40; in a server two to three times
that, since caches are shared, and 120 ns more where the same CPUs read and keep the records."""

UNKNOWN_NS = 3_500.0

LOADED = 2.6
"""Times as long as in a loop that does nothing else an entry and exit take in a loaded server, by `attach`."""

STEP = 3.0
"""Usual pairs that each end of a call costs more where the kernel steps over an instruction: a function's beginning, or
the place where it leaves (attach). In this project's virtual machines some 10 us of an idle CPU."""

TEXT = 0.5
"""Usual pairs that reading a text at an entry costs more: of a PostgreSQL's markers an entry takes 2.7 us (±0.8)."""

UNSURE = 0.5
"""Standard deviation of what arithmetic predicts of a server's loss, as a share of it."""

MOST_CHANGE = 2.0
"""Times that the price changes at most after one round."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price of an entry and exit, with one backend."""

    pair_ns: float
    measured: bool = False  # on this server; else what such a probe costs elsewhere
    step: float = STEP  # usual pairs that an end costs more where the kernel steps over an instruction

    @classmethod
    def of(cls, backend: str, prices: Prices | None = None) -> Price:
        """`prices`: of this machine; None: not measured, so that the stated ones hold."""
        if prices is None or prices.emulated_ns <= 0:
            return cls(PAIR_NS.get(backend, UNKNOWN_NS))
        pair_ns = LOADED * prices.emulated_ns
        return cls(pair_ns, step=prices.step_ns / pair_ns)

    def learnt(self, low: float, high: float, pairs: float, own_ns: float) -> Price:
        """After a round whose probes really lengthened transactions by between `low` and `high` of the time they have.

        Only where that interval rules out the price in use is it replaced, by the interval's nearer end, and by no
        more than a factor of MOST_CHANGE: an interval of few windows is itself unsure."""
        if pairs <= 0 or own_ns <= 0:
            return self
        least, most = low * own_ns / pairs, high * own_ns / pairs
        if self.pair_ns < least:
            return replace(self, pair_ns=min(least, MOST_CHANGE * self.pair_ns), measured=True)
        if self.pair_ns > most > 0:
            return replace(self, pair_ns=max(most, self.pair_ns / MOST_CHANGE), measured=True)
        return self


def weighed(predicted: float, low: float, high: float) -> float:
    """Return the mean of what arithmetic predicts and of what was measured, each by its certainty, within the measured
    interval `low` to `high` (95%), and not below 0."""
    middle, error, unsure = (low + high) / 2, (high - low) / (2 * 1.96), UNSURE * predicted
    weights = error**2 + unsure**2
    mean = (predicted * error**2 + middle * unsure**2) / weights if weights > 0 else middle
    return max(0.0, min(max(mean, low), high))
