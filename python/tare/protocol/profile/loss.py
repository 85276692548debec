"""Throughput that a server loses to a profile: while all probes are on, and averaged over the whole profile.

Three kinds of windows take turns: with all probes, with the transactions' markers alone, and with no probe. The first
two are compared by their transactions (`overhead`). While no probe is on no transaction is seen; what the kernel counts
of the server all the same stands for them (`Counter`):

- voluntary context switches, where a transaction has LEAST_WAITS of them or more: a client's next word, a lock, the
  disk. Of a PostgreSQL 18 under `pgbench -S` the markers took 14.6% (±1.1) by pgbench's own count, and 14.1% (±1.0) by
  these; under `pgbench -N` 7.0% (±1.7) and 6.1% (±1.9).
- else, or where both contradict each other, time in user mode, of programs that compute: 31.3% by the program's own
  count, 27.7% by this. It reads low by up to a sixth, since a probe also costs what comes after it some cache. Of a
  MariaDB under TPC-C, whose threads wait for each other more often the faster they are, the markers took 20% by its
  clients' count, and 65 to 72% by context switches.

Losses of one set of probes on top of another multiply what is left; over time they add up.

Between windows Tare counts calls, sets probes and reads what it has recorded, on the same CPUs: on a PostgreSQL 15
under TPC-C on two CPUs that took 20% of the throughput, where windows took 8%. What the kernel counts from the first
window to the last, against windows with no probe, shows the whole of it (`whole_loss`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tare.protocol.profile.found import Counter, Estimate, Loss, MarkersLoss
from tare.protocol.profile.measured import BARE, MARKERS, PROBED, Ints, Window
from tare.protocol.profile.overhead import ended_in
from tare.protocol.profile.paired import lost, neighbours, ratio_of
from tare.protocol.statistics import CONFIDENCE

LEAST_WAITS = 0.5
"""Voluntary context switches of a transaction, from which on they stand for its throughput."""

LEAST_STRETCHES = 4
"""Stretches from which on the whole loss has an interval: Student's t has three degrees of freedom then."""

LEAST_USER_S = 0.1
"""Time in user mode of all windows of a kind. The kernel samples it (by default 250 times a second): with less than
this its error alone is above 15%."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Counters of a server in one window."""

    seconds: float
    user_s: float  # CPU time in user mode, of all its threads
    waits: int  # voluntary context switches
    busy_s: float  # CPU time of the whole machine

    def rate(self, of: Counter) -> float:
        """Return the counters per second."""
        return (self.waits if of is Counter.WAITS else self.user_s) / self.seconds


def markers_loss(
    ends: Ints, windows: Sequence[Window], activity: Mapping[int, Activity]
) -> MarkersLoss | None:
    """Return the throughput that the markers alone take. `ends`: ends of transactions, ns, ascending; `activity`: by
    window. None: nothing that the kernel counts stands for this server's transactions, or there are too few pairs of
    windows."""
    seen = [(one, activity[one.number]) for one in windows if one.number in activity]
    waits = _compared(seen, Counter.WAITS) if _waits_often(ends, seen) else None
    bare_s = sum(act.user_s for one, act in seen if one.purpose == BARE)
    user = _compared(seen, Counter.USER_TIME) if bare_s >= LEAST_USER_S else None
    if waits is None or user is None:
        return waits or user
    agree = waits.figure.low <= user.figure.high and user.figure.low <= waits.figure.high
    return waits if agree else user


def _waits_often(ends: Ints, seen: Sequence[tuple[Window, Activity]]) -> bool:
    with_markers = [(one, act) for one, act in seen if one.purpose == MARKERS]
    transactions = sum(ended_in(ends, one) for one, _ in with_markers)
    return transactions > 0 and sum(act.waits for _, act in with_markers) >= LEAST_WAITS * transactions


def _compared(seen: Sequence[tuple[Window, Activity]], by: Counter) -> MarkersLoss | None:
    rates = [(one, act.rate(by)) for one, act in seen if one.purpose in (MARKERS, BARE) and act.seconds > 0]
    ratios = [
        marked / bare
        for (_, marked), (_, bare) in neighbours(rates, lambda one: one[0].purpose == MARKERS)
        if marked > 0 and bare > 0
    ]
    figure = lost(ratio_of(ratios))
    return None if figure is None else MarkersLoss(figure, by, len(ratios))


def whole_loss(
    windows: Sequence[Window], activity: Mapping[int, Activity], between: Mapping[int, Activity], by: Counter
) -> Estimate | None:
    """Return the throughput that was lost from the first window that was read to the last. `activity`: by window;
    `between`: by window, from the end of the one that was read before. None: fewer than LEAST_STRETCHES, or the
    kernel counted nothing.

    The ratio of all counts a second to those of windows without any probe. Its error is a jackknife's, over stretches
    that each begin with such windows: one is left out as a whole, so that a load that swings widens the interval."""
    stretches = [[0.0] * 4]  # of each: counts and seconds in all, and without any probe
    before = ""  # purpose of the window before
    for one in sorted(windows, key=lambda one: one.number):
        if one.purpose == BARE != before and stretches[-1][3]:
            stretches.append([0.0] * 4)
        for counted, is_bare in ((between, False), (activity, one.purpose == BARE)):
            if one.number in counted:
                stretches[-1] = _added(stretches[-1], counted[one.number], by, is_bare=is_bare)
        before = one.purpose
    sums = np.array(stretches)
    without = sums.sum(axis=0) - sums
    if len(sums) < LEAST_STRETCHES or not (without > 0).all():
        return None
    from scipy.special import stdtrit

    ratio, ratios = float(_log_ratio(sums.sum(axis=0))), _log_ratio(without.T)
    error = math.sqrt((len(sums) - 1) * float(np.mean((ratios - ratios.mean()) ** 2)))
    half = stdtrit(len(sums) - 1, (1 + CONFIDENCE) / 2) * error
    return lost(Estimate(math.exp(ratio), math.exp(ratio - half), math.exp(min(ratio + half, 700.0))))


def _added(sums: Sequence[float], of: Activity, by: Counter, *, is_bare: bool) -> list[float]:
    """Return sums of counts and of seconds, in all and without any probe, with those of `of`."""
    counts = of.rate(by) * of.seconds if of.seconds > 0 else 0.0
    more = (counts, of.seconds, counts * is_bare, of.seconds * is_bare)
    return [before + added for before, added in zip(sums, more, strict=True)]


def _log_ratio(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Logarithm of all counts a second over those of windows without any probe; the last axis may hold many."""
    counts, seconds, bare, bare_s = sums
    return np.asarray(np.log(counts / seconds / (bare / bare_s)))


def loss(
    windows: Sequence[Window],
    throughput: Estimate | None,
    markers: MarkersLoss | None,
    *,
    whole: Estimate | None,
    predicted: Mapping[int, float],
    predicted_markers: float,
    counting_s: float,
    own_s: float,
    allowed_on: float,
) -> Loss:
    """Return the loss of the whole profile. `windows`: all of the profile. `throughput`: lost between windows with
    the markers alone and those with all probes, over all rounds. `whole`: as `whole_loss`; without it the average is
    that of windows and of counting alone. `predicted`: by round, time that its probes add to a transaction, as a share
    of it without any probe; `predicted_markers`: the same of the markers. `counting_s` and `own_s`: seconds of
    throughput that counting and Tare's own work took, predicted."""
    total = (
        (max(one.end_ns for one in windows) - min(one.begin_ns for one in windows)) / 1e9 if windows else 0.0
    )
    probed, marked = (
        _seconds([one for one in windows if one.purpose == purpose]) for purpose in (PROBED, MARKERS)
    )
    by_markers = share_of(predicted_markers)
    of_markers = markers.figure if markers is not None else Estimate(by_markers, by_markers, by_markers)
    on = None if throughput is None else _on_top(throughput, of_markers)
    counting, own = (seconds / total if total else 0.0 for seconds in (counting_s, own_s))
    parts = (probed / total, marked / total) if total else (0.0, 0.0)
    last = max((one.round for one in windows if one.purpose == PROBED), default=0)
    each = [
        (one.end_ns - one.begin_ns) / 1e9 * share_of(predicted.get(one.round, 0.0) + predicted_markers)
        for one in windows
        if one.purpose == PROBED
    ]
    in_windows = None if on is None else _over_time(((on, parts[0]), (of_markers, parts[1])), counting)
    # Without a measure of the whole, Tare's own work is in neither average, so that both are of the same.
    return Loss(
        on=on,
        average=whole or in_windows,
        in_windows=in_windows if whole else None,
        predicted_on=share_of(predicted.get(last, 0.0) + predicted_markers),
        predicted_average=(math.fsum(each) / total if total else 0.0)
        + parts[1] * by_markers
        + counting
        + (own if whole else 0.0),
        markers=markers,
        predicted_markers=by_markers,
        probed_share=parts[0],
        markers_share=parts[1],
        counting=counting,
        own=own,
        allowed_on=allowed_on,
    )


SPARE, SATURATED = 0.5, 0.9
"""Shares of the CPUs that are busy. Up to the first what probes take is taken from a transaction's own time alone, from
the second on from all transactions. A PostgreSQL with four clients on two CPUs that were busy for 86% lost 11% (±2) to
markers; by its transactions' durations alone it were 4%, by the CPUs alone 9%."""


def cycle_ns(mean_ns: float, rate: float, busy: float, cpus: int) -> float:
    """Return the time in which a machine makes one transaction, which its probes lengthen: a share of this is lost of
    the throughput. `rate`: transactions a second; `busy`: CPUs of the machine that are busy, of `cpus` (0: plenty).

    Where the CPUs have nothing to spare it is what a transaction has of them, its client's part and its waits for a CPU
    included. Where they have, it is its duration, or the CPU time that it takes in all where that is more. In between
    the loss is a mean of both."""
    if rate <= 0:
        return mean_ns
    alone_ns = max(mean_ns, 1e9 * busy / rate)
    if not cpus:
        return alone_ns
    scarce = scarcity(busy, cpus)
    return 1 / (scarce * rate / (1e9 * cpus) + (1 - scarce) / alone_ns)


def scarcity(busy: float, cpus: int) -> float:
    """Return how scarce CPU time is, from 0 to 1: what part of other work is taken from the load."""
    return min(1.0, max(0.0, (busy / cpus - SPARE) / (SATURATED - SPARE))) if cpus else 0.0


def share_of(added: float) -> float:
    """Return the share of the throughput that is lost where a transaction takes `added` of its time longer."""
    return added / (1 + added)


def _seconds(windows: Sequence[Window]) -> float:
    return math.fsum(one.end_ns - one.begin_ns for one in windows) / 1e9


def _on_top(first: Estimate, second: Estimate) -> Estimate:
    """Return the share that is lost to both. Their errors are taken for independent."""
    left = [-math.log1p(-min(one, 0.999999)) for one in (first.value, first.low, first.high)]
    right = [-math.log1p(-min(one, 0.999999)) for one in (second.value, second.low, second.high)]
    value = left[0] + right[0]
    below = math.hypot(left[0] - left[1], right[0] - right[1])
    above = math.hypot(left[2] - left[0], right[2] - right[0])
    return Estimate(*(-math.expm1(-one) for one in (value, value - below, value + above)))


def _over_time(parts: Sequence[tuple[Estimate, float]], more: float) -> Estimate:
    """Return the sum of losses, each in its share of the time, and of `more`."""
    value = more + math.fsum(one.value * share for one, share in parts)
    below = math.hypot(*((one.value - one.low) * share for one, share in parts))
    above = math.hypot(*((one.high - one.value) * share for one, share in parts))
    return Estimate(value, value - below, value + above)
