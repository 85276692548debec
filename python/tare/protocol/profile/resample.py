"""The block bootstrap: what shares would come out, had other stretches of time been recorded.

Blocks of neighbours (`blocks`) are drawn with replacement, as many as there are. A replicate needs no transaction
again, only the sums of its blocks: with a few hundred blocks, replicates are one matrix product. Types' means, the
99th percentile and the list of pairs are those of the whole sample in every replicate.

Intervals are percentiles of the replicates, a little wider than 2.5% and 97.5% where blocks are few (Hesterberg, "What
teachers should know about the bootstrap", The American Statistician 69, 2015: the expanded percentile interval), and
hold the figure itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.protocol.profile.blocks import block_length
from tare.protocol.profile.found import Estimate
from tare.protocol.profile.measured import UNREAD, Floats, Ints
from tare.protocol.profile.times import Times
from tare.protocol.profile.types import Types, centred

REPLICATES = 1_000
CONFIDENCE = 0.95

Part = tuple[int, bool]
"""A node, and whether its body alone is meant."""

Chosen = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Resampled:
    """By replicate, then node or pair. Times in ns."""

    blocks: int
    length: int  # of a block, transactions
    weights: Floats  # how often each block was drawn
    drawn: Floats  # transactions
    total: Floats  # Var(T)
    mean: Floats  # of T
    inclusive: Floats  # Var
    own: Floats
    own_with_total: Floats  # Cov(own, T)
    own_mean: Floats
    pairs: Floats  # Cov
    cpu: Floats | None  # Cov(CPU time, T) / Var(T)
    tail_excess: Floats | None  # of each node's own time: see `found.Tail`

    def interval(self, value: float, replicates: Floats) -> Estimate:
        """Return the interval of a figure, given its replicates."""
        return self.intervals(np.array([value]), replicates[:, None])[0]

    def share(self, value: float, total: float, replicates: Floats) -> Estimate:
        """Return the share in Var(T): `value` of `total` in ns², and likewise in the replicates."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.interval(float(value / total), replicates / self.total)

    def shares(self, values: Floats, total: float, replicates: Floats) -> list[Estimate]:
        """The same by column."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.intervals(values / total, replicates / self.total[:, None])

    def intervals(self, values: Floats, replicates: Floats) -> list[Estimate]:
        """By column."""
        return percentiles(values, replicates, self.blocks)

    def quantile(self, values: Ints, share: float) -> Floats:
        """Return the quantile of a figure of each transaction, by replicate: the smallest that at least `share` of the
        draws reach or stay below. For shares near 1: few of the largest values are looked at."""
        n = len(values)
        most = min(n, 1 + math.ceil(4 * (1 - share) * n) + self.length)
        largest = np.argsort(-values, kind="stable")[:most]
        above = np.cumsum(self.weights[:, largest // self.length], axis=1)
        place = (above <= (1 - share) * self.drawn[:, None]).sum(axis=1)
        return np.asarray(values[largest[np.minimum(place, most - 1)]], dtype=np.float64)


def percentiles(values: Floats, replicates: Floats, blocks: int) -> list[Estimate]:
    """Intervals of figures that came out so in the replicates, by column."""
    finite = np.where(np.isfinite(replicates), replicates, values[None, :])
    low, high = np.quantile(finite, _levels(blocks), axis=0)
    return [
        Estimate(float(value), float(min(a, value)), float(max(b, value)))
        for value, a, b in zip(values, low, high, strict=True)
    ]


def _levels(blocks: int) -> tuple[float, float]:
    from scipy.special import ndtr, stdtrit

    below = (1 - CONFIDENCE) / 2
    freedom = max(blocks - 1, 1)
    wider = float(ndtr(math.sqrt(blocks / freedom) * stdtrit(freedom, below)))
    return wider, 1 - wider


def resample(
    times: Times,
    types: Types | None = None,
    pairs: Sequence[tuple[Part, Part]] = (),
    tail: Chosen | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Resampled:
    """`types`: whose means are taken out. `tail`: which transactions are in it."""
    measured = times.measured
    means = Means.of(times, types)
    total = means.apart_from_total
    length = block_length(total)
    sums = _block_sums(times, means, pairs, tail, length)
    blocks = len(sums["count"])
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=replicates).astype(np.float64)
    drawn = {name: weights @ values for name, values in sums.items()}

    def mean(name: str, of: str = "count") -> Floats:
        return drawn[name] / drawn[of]

    def covariance(product: str, left: str, right: str, of: str = "count") -> Floats:
        return mean(product, of) - mean(left, of) * mean(right, of)

    with np.errstate(divide="ignore", invalid="ignore"):
        cpu = excess = None
        if (measured.cpu_ns != UNREAD).any():
            cpu = covariance("cpu T", "cpu", "cpu's T", "cpu read") / covariance(
                "cpu's T T", "cpu's T", "cpu's T", "cpu read"
            )
        if tail is not None:
            inside, outside = drawn["tail"], drawn["count"] - drawn["tail"]
            differences = [
                drawn[f"tail {one}"] / inside - (drawn[f"plain {one}"] - drawn[f"tail {one}"]) / outside
                for one in ("own", "T")
            ]
            excess = differences[0] / differences[1]
    return Resampled(
        blocks=blocks,
        length=length,
        weights=weights,
        drawn=drawn["count"][:, 0],
        total=covariance("T T", "T", "T")[:, 0],
        mean=float(measured.duration_ns.mean()) + mean("plain T")[:, 0],
        inclusive=covariance("inclusive inclusive", "inclusive", "inclusive"),
        own=covariance("own own", "own", "own"),
        own_with_total=covariance("own T", "own", "T"),
        own_mean=means.own + mean("plain own"),
        pairs=covariance("pairs", "left", "right"),
        cpu=None if cpu is None else cpu[:, 0],
        tail_excess=excess,
    )


@dataclass(frozen=True, eq=False)
class Means:
    """Means that are subtracted before anything is squared."""

    own: Floats  # of all transactions, by node
    types_own: Floats  # by type and node: of all transactions where there are no types
    types_inclusive: Floats
    type_of: Ints
    apart_from_total: Floats  # T less its mean, by transaction
    total: float

    @classmethod
    def of(cls, times: Times, types: Types | None) -> Means:
        measured = times.measured
        type_of = types.of if types else np.zeros(measured.transactions, dtype=np.int64)
        durations = measured.duration_ns.astype(np.float64)
        total = float(durations.mean())
        return cls(
            own=times.own_mean,
            types_own=times.means(measured.own_ns, type_of) if types else times.own_mean[None],
            types_inclusive=(
                times.means(measured.inclusive_ns, type_of) if types else times.inclusive_mean[None]
            ),
            type_of=type_of,
            apart_from_total=centred(durations, types) if types else durations - total,
            total=total,
        )


def _block_sums(
    times: Times, means: Means, pairs: Sequence[tuple[Part, Part]], tail: Chosen | None, length: int
) -> dict[str, Floats]:
    """Each by block, and node or pair or nothing."""
    measured = times.measured
    found: dict[str, list[Floats]] = {}
    at_once = max(1, times.most_rows // length) * length
    for chunk in times.chunks(np.arange(measured.transactions), at_once):
        rows = chunk.rows
        sides = means.type_of[rows]
        own, inclusive = chunk.own - means.types_own[sides], chunk.inclusive - means.types_inclusive[sides]
        plain_own = chunk.own - means.own
        total = means.apart_from_total[rows, None]
        plain_total = (measured.duration_ns[rows] - means.total)[:, None]
        both = {False: inclusive, True: own}
        left, right = (
            np.stack([both[body][:, node] for node, body in side], axis=1) if pairs else own[:, :0]
            for side in (list(zip(*pairs, strict=True)) or [(), ()])
        )
        one = np.ones((len(rows), 1))
        inside = np.zeros_like(one) if tail is None else tail[rows, None].astype(np.float64)
        read = (measured.cpu_ns[rows, None] != UNREAD).astype(np.float64)
        cpu = measured.cpu_ns[rows, None] * read
        for name, (first, second) in {
            "count": (one, one),
            "T": (one, total),
            "T T": (total, total),
            "own": (one, own),
            "own own": (own, own),
            "own T": (own, total),
            "inclusive": (one, inclusive),
            "inclusive inclusive": (inclusive, inclusive),
            "left": (one, left),
            "right": (one, right),
            "pairs": (left, right),
            "plain own": (one, plain_own),
            "plain T": (one, plain_total),
            "tail": (one, inside),
            "tail own": (inside, plain_own),
            "tail T": (inside, plain_total),
            "cpu read": (one, read),
            "cpu": (one, cpu),
            "cpu's T": (read, total),
            "cpu T": (cpu, total),
            "cpu's T T": (read * total, total),
        }.items():
            found.setdefault(name, []).append(_products(first, second, length))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _products(left: Floats, right: Floats, length: int) -> Floats:
    """Σ left · right over each block's rows; the last may be short. One side may be a single column."""
    cuts = np.arange(0, len(left), length)
    if left.shape[1] == right.shape[1]:
        sums = [np.einsum("ij,ij->j", left[cut : cut + length], right[cut : cut + length]) for cut in cuts]
        return np.array(sums)
    thin, wide = (left, right) if left.shape[1] == 1 else (right, left)
    sums = [thin[cut : cut + length, 0] @ wide[cut : cut + length] for cut in cuts]
    return np.array(sums)
