"""What profiling itself caused: windows with all probes and windows with the transactions' markers only, taking turns.

Windows that follow each other make a pair, so that what drifts meets both alike. Of each pair the logarithms of the
ratios of mean durations and of transactions per second are taken. From six pairs on their centre and its interval are
told by signed ranks (`tare.protocol.signed_ranks`), since a server that stands still for a moment makes one window many
times as slow; with fewer by their mean and Student's t. Both hold if pairs are alike but for chance. A transaction that
a change of probes cut counts for the throughput of the window in which it ended, and in no mean duration: so means come
out right where windows are long beside transactions. Ends, not beginnings: a thread's first command in a window may
go on with what it had begun before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.measured import Ints, Window
from tare.protocol.signed_ranks import centre, interval
from tare.protocol.statistics import CONFIDENCE

PROBED = "probed"
MARKERS = "markers"
"""Purposes of windows, as they begin."""

FEWEST_PAIRS = 2

_CUT = ("changed", "unfinished")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one window came to."""

    probed: bool
    transactions: int  # that ended in it; 0: none is whole
    mean_ns: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds


def turns(transactions: pa.Table, windows: Iterable[Window]) -> list[Turn]:
    """Of the windows that have either purpose, in order of begin."""
    number = np.asarray(transactions["window"].to_numpy())
    duration = np.asarray(transactions["duration_ns"].to_numpy())
    why = np.asarray(
        transactions["why"].combine_chunks().cast(pa.string()).to_numpy(zero_copy_only=False), dtype=str
    )
    whole = ~np.isin(why, _CUT)
    over = ends(transactions)
    found = []
    for one in sorted(windows, key=lambda one: one.begin_ns):
        if one.purpose.startswith((PROBED, MARKERS)):
            inside = duration[whole & (number == one.number)]
            mean = float(inside.mean()) if len(inside) else 0.0
            seconds = (one.end_ns - one.begin_ns) / 1e9
            count = ended_in(over, one) if len(inside) else 0
            found.append(Turn(one.purpose.startswith(PROBED), count, mean, seconds))
    return found


def ends(transactions: pa.Table) -> Ints:
    """When those whose end was seen were over, ns, ascending."""
    seen = np.asarray(transactions["ended"].to_numpy(), dtype=bool)
    begun, lasted = (np.asarray(transactions[name].to_numpy())[seen] for name in ("begin_ns", "duration_ns"))
    return np.sort((begun + lasted).astype(np.int64))


def ended_in(over: Ints, window: Window) -> int:
    """How many, of `ends`."""
    first, last = np.searchsorted(over, (window.begin_ns, window.end_ns))
    return int(last - first)


def own_ns(mean_ns: float, rate: float, cpus: int) -> float:
    """The time that a transaction has: its duration, or what it can have of the CPUs, whichever is less.

    Where CPUs have nothing to spare, transactions wait for them, and a probe's cost is a share of the latter."""
    return min(mean_ns, 1e9 * cpus / rate) if cpus and rate > 0 else mean_ns


def overhead(
    taken: Sequence[Turn], *, events: float, pair_ns: float, marker_events: float, cpus: int = 0
) -> Overhead:
    """`events`, `marker_events`: entry and exit pairs per transaction, of all probes and of the markers alone;
    `cpus`: of the machine, 0 for plenty."""
    pairs = list(_pairs(taken))
    latency = _ratio([probed.mean_ns / plain.mean_ns for probed, plain in pairs])
    rate = _ratio([probed.rate / plain.rate for probed, plain in pairs])
    plain = [one for one in taken if not one.probed and one.transactions] or [
        one for one in taken if one.transactions
    ]
    count = sum(one.transactions for one in plain)
    mean = sum(one.mean_ns * one.transactions for one in plain) / count if count else math.inf
    own = own_ns(mean, count / sum(one.seconds for one in plain), cpus) if count else mean
    return Overhead(
        windows=len(pairs),
        latency=None if latency is None else Estimate(latency.value - 1, latency.low - 1, latency.high - 1),
        throughput=None if rate is None else Estimate(1 - rate.value, 1 - rate.high, 1 - rate.low),
        predicted=events * pair_ns / own,
        events=events,
        pair_ns=pair_ns,
        markers=marker_events * pair_ns / own,
    )


def _pairs(taken: Sequence[Turn]) -> Iterator[tuple[Turn, Turn]]:
    """Neighbours of different kinds, each in one pair at most: the probed one first."""
    waiting: Turn | None = None
    for one in taken:
        if not one.transactions or one.seconds <= 0:
            waiting = None
        elif waiting is None or waiting.probed == one.probed:
            waiting = one
        else:
            yield (one, waiting) if one.probed else (waiting, one)
            waiting = None


def _ratio(ratios: Sequence[float]) -> Estimate | None:
    """None: too few pairs for an interval."""
    if len(ratios) < FEWEST_PAIRS:
        return None
    logs = np.log(ratios)
    if (found := interval(logs)) is not None:
        value, low, high = centre(logs), found.low, found.high
    else:
        from scipy.special import stdtrit

        half = stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2) * logs.std(ddof=1) / math.sqrt(len(logs))
        value = float(logs.mean())
        low, high = value - half, value + half
    return Estimate(math.exp(value), math.exp(low), math.exp(min(high, 700.0)))
