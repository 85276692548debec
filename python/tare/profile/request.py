"""Request for a profile."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_ROUNDS = 5
DEFAULT_BUDGET = 0.05
DEFAULT_DURATION_S = 60.0

PEAK = 4.0
"""Times the budget that probes may take while all are on, unless told."""


@dataclass(frozen=True, slots=True)
class Asked:
    """All but whom to watch."""

    txn: str | None = None  # None: the DBMS's usual one
    budget: float = DEFAULT_BUDGET  # share of the throughput that probes may take, over the whole profile
    peak: float | None = None  # the same while all probes are on; None: PEAK times the budget
    duration_s: float = DEFAULT_DURATION_S  # of all rounds, counting and analysis included
    rounds: int = DEFAULT_ROUNDS  # at most; 1: no refinement
    functions: tuple[str, ...] = ()  # to watch in the first round; empty: the preset's
    only: bool = False  # these functions and no others
    server_time: bool = False  # T is without waiting for the client
    seed: int = 0  # of the windows' order

    @property
    def most_on(self) -> float:
        """Share of the throughput that probes may take while all are on."""
        return min(1.0, PEAK * self.budget) if self.peak is None else self.peak

    @property
    def most_markers(self) -> float:
        """Share of it that the transactions' markers alone may take, so that room is left for functions."""
        return max(self.most_on - self.budget, self.most_on / 2)

    @property
    def most_named(self) -> float:
        """Share that named functions may take while all probes are on: windows without any make up for it."""
        return max(self.budget, self.most_on - self.budget)

    def counting_s(self, first: bool) -> float:
        """Return the length of all batches together. Most candidates come to the first round."""
        return min(8.0, 0.1 * self.duration_s) if first else min(3.0, 0.04 * self.duration_s)

    @property
    def searching_s(self) -> float:
        """Most of one search for callees by pointer."""
        return min(4.0, 0.08 * self.duration_s)

    @property
    def settling_s(self) -> float:
        """The first look: is there a load, how long do transactions take."""
        return min(2.0, 0.05 * self.duration_s)

    def round_s(self, left_s: float, rounds_left: int) -> float:
        """Return the length of the next round, when so much time and so many rounds are left. The last gets two shares,
        since the report is of it."""
        return left_s if rounds_left <= 1 else left_s / (rounds_left + 1)
