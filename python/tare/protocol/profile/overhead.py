"""Overhead of profiling: windows with all probes against windows with the transactions' markers only, taking turns.

The values are ratios of mean durations and of transactions a second (`paired`). Of mean durations the prior standard
deviation is that of the windows without probes, where these scatter more than PRIOR_SD: under an open loop transactions
that wait for each other's locks take 4 ms in one second and 80 in another, and two pairs that agree say little. Both
hold if pairs differ by chance only.

`excess` applies the same intervals after each pair of a round, from the second on. In 1,000 simulated rounds of twelve
pairs whose probes cost nothing it stopped none where pairs scattered by 3%, 0.2% at 10% and 2.7% at 20%; where probes
cost exactly the budget of 5%, 5 to 10%. After two pairs it stops all rounds that lose 65% of the throughput, 99% of
those that lose half, and 87% or more of those that lose 40% (scatter up to 20%).

A transaction that a change of probes cut counts for the throughput of the window in which it ended, and in no mean
duration: so means come out right where windows are long beside transactions. Ends, not beginnings: a thread's first
command in a window may go on with what it had begun before.

The queue of an overloaded server grows from window to window, with and without probes. Windows are then not alike, and
no figure is given (`growth`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tare.arrow import flags, numbers
from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.measured import MARKERS, PROBED, Ints, Measure, Window, reasons
from tare.protocol.profile.paired import PRIOR_SD, lost, neighbours, ratio_of

GROWTH = 2.0
"""Times as long at a round's end as at its beginning, from which on a transaction's duration is not steady."""

_LEAST_OF_A_KIND = 4
"""Windows of each kind, from which on a trend can be told from chance."""

_TREND = 2.58
"""Standard deviations of Kendall's S that chance exceeds once in 200 rounds, on the side of growth."""

_CUT = ("changed", "unfinished")


@dataclass(frozen=True, slots=True)
class Turn:
    """Transactions of one window."""

    probed: bool
    transactions: int  # that ended in it; 0: none is whole
    mean_ns: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds


@dataclass(frozen=True, slots=True)
class Excess:
    """Overhead above what is allowed, with its whole interval."""

    measure: Measure
    figure: Estimate
    pairs: int
    allowed: float

    @property
    def added(self) -> Estimate:
        """Time that it adds to a transaction, as a share: to lose half of the throughput is to take twice as long."""
        if self.measure is Measure.LATENCY:
            return self.figure
        value, low, high = (
            1 / (1 - min(share, 0.999)) - 1
            for share in (self.figure.value, self.figure.low, self.figure.high)
        )
        return Estimate(value, low, high)


def turns(transactions: pa.Table, windows: Iterable[Window]) -> list[Turn]:
    """Return the turns of the windows that have either purpose, in order of begin."""
    number = numbers(transactions["window"])
    duration = numbers(transactions["duration_ns"])
    why = reasons(transactions)
    whole = np.logical_and.reduce([why != one for one in _CUT])
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
    seen = flags(transactions["ended"])
    begun, lasted = (numbers(transactions[name])[seen] for name in ("begin_ns", "duration_ns"))
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
    pairs = _pairs(taken)
    grown = growth(taken)
    latency, throughput = (None, None) if grown is not None else (_latency(pairs), _throughput(pairs))
    plain = [one for one in taken if not one.probed and one.transactions] or [
        one for one in taken if one.transactions
    ]
    count = sum(one.transactions for one in plain)
    mean = sum(one.mean_ns * one.transactions for one in plain) / count if count else math.inf
    own = own_ns(mean, count / sum(one.seconds for one in plain), cpus) if count else mean
    return Overhead(
        windows=len(pairs),
        latency=latency,
        throughput=throughput,
        predicted=events * pair_ns / own,
        events=events,
        pair_ns=pair_ns,
        markers=marker_events * pair_ns / own,
        growth=grown,
    )


def throughput(taken: Sequence[Turn]) -> Estimate | None:
    """Share of the throughput that probes take, without the markers; None: too few pairs."""
    return _throughput(_pairs(taken))


def excess(taken: Sequence[Turn], budget: float) -> Excess | None:
    """Overhead whose interval lies above the budget as a whole; None: it does not, or there are too few pairs.

    Of an unsteady load only the throughput is looked at: a server with a growing queue does as much as it can."""
    pairs = _pairs(taken)
    latency = _latency(pairs) if growth(taken) is None else None
    above = [
        Excess(measure, figure, len(pairs), budget)
        for measure, figure in ((Measure.LATENCY, latency), (Measure.THROUGHPUT, _throughput(pairs)))
        if figure is not None and figure.low > budget
    ]
    return max(above, key=lambda one: one.added.value, default=None)


def growth(taken: Sequence[Turn]) -> float | None:
    """Times as long a transaction took at the end as at the beginning, where it grew from window to window of either
    kind (Kendall's S, both kinds together) to GROWTH or more; None: steady, or too few windows to tell."""
    places = [(place, one) for place, one in enumerate(taken) if one.transactions and one.mean_ns > 0]
    kinds = [[(place, one) for place, one in places if one.probed == probed] for probed in (True, False)]
    if min(len(one) for one in kinds) < _LEAST_OF_A_KIND:
        return None
    slopes: list[float] = []
    variance = 0.0
    for kind in kinds:
        at = np.array([place for place, _ in kind], dtype=float)
        logs = np.log([one.mean_ns for _, one in kind])
        first, second = np.triu_indices(len(kind), 1)
        slopes += list((logs[second] - logs[first]) / (at[second] - at[first]))
        n = len(kind)
        variance += n * (n - 1) * (2 * n + 5) / 18
    trend = float(np.sign(slopes).sum())
    times = math.exp(min(float(np.median(slopes)) * (len(taken) - 1), 700.0))
    return times if trend > _TREND * math.sqrt(variance) and times >= GROWTH else None


def _latency(pairs: Sequence[tuple[Turn, Turn]]) -> Estimate | None:
    """Ratio of mean durations, less 1."""
    scatter = float(np.log([plain.mean_ns for _, plain in pairs]).std(ddof=1)) if len(pairs) > 1 else 0.0
    ratio = ratio_of([probed.mean_ns / plain.mean_ns for probed, plain in pairs], max(PRIOR_SD, scatter))
    return None if ratio is None else Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)


def _throughput(pairs: Sequence[tuple[Turn, Turn]]) -> Estimate | None:
    """1 less the ratio of transactions a second."""
    return lost(ratio_of([probed.rate / plain.rate for probed, plain in pairs]))


def _pairs(taken: Sequence[Turn]) -> list[tuple[Turn, Turn]]:
    """The probed one first."""
    timed = [one for one in taken if one.seconds > 0]
    return [
        pair for pair in neighbours(timed, lambda one: one.probed) if all(one.transactions for one in pair)
    ]
