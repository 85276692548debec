"""Times of many transactions as the driver tells them, and every figure that is taken from them.

`crates/tare-load/src/oltp/told.rs` has its counterpart. Moments are exact; quantiles are of the histogram, whose
buckets are narrow enough for three significant digits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from itertools import accumulate

from tare.records import TolerantRecord

MS = 1e6
"""Nanoseconds in a millisecond."""

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
"""Quantiles that are reported, with the largest value beside them."""


def quantile_name(share: float) -> str:
    """0.999 → p99.9."""
    return f"p{100 * share:g}"


class Distribution(TolerantRecord):
    """All values of one kind. Two can be merged, as from two processes; nothing is lost by it."""

    count: int = 0
    mean: float = 0.0  # ns
    m2: float = 0.0  # sum of squared deviations from the mean, ns²
    norm: float = 2.0  # p of the L_p norm
    power_sum: float = 0.0  # of the p-th powers of the values in ms
    min: int = 0  # ns
    max: int = 0  # ns, exact
    histogram: tuple[tuple[int, int], ...] = ()  # (highest value of the bucket in ns, values in it), rising

    # Moments, of ns -----------------------------------------------------------------------
    @property
    def variance(self) -> float | None:
        """Variance of the sample (n − 1), ns²; None below two values."""
        return self.m2 / (self.count - 1) if self.count > 1 else None

    @property
    def sd(self) -> float | None:
        """Standard deviation, ns."""
        return None if self.variance is None else math.sqrt(self.variance)

    @property
    def cv(self) -> float | None:
        """Coefficient of variation: standard deviation over mean."""
        return None if self.sd is None or self.mean == 0 else self.sd / self.mean

    @property
    def lp_norm_ms(self) -> float | None:
        """(Σ lᵢᵖ)^(1/p), ms: the L_p norm. It grows with the number of values: compare it between runs
        of as many transactions, else take `power_mean_ms`."""
        return self.power_sum ** (1 / self.norm) if self.count else None

    @property
    def power_mean_ms(self) -> float | None:
        """(Σ lᵢᵖ / n)^(1/p), ms: the L_p norm freed of the number of values; their mean for p = 1."""
        return (self.power_sum / self.count) ** (1 / self.norm) if self.count else None

    # Quantiles ----------------------------------------------------------------------------
    def quantile(self, share: float) -> int | None:
        """The least value, at the histogram's precision, that at least `share` of all values do not exceed; ns.

        None: there are no values."""
        return self.quantiles((share,))[0]

    def quantiles(self, shares: Iterable[float]) -> list[int | None]:
        """Several at once."""
        heights = list(accumulate(values for _, values in self.histogram))
        return [self._at(share, heights) for share in shares]

    def _at(self, share: float, heights: list[int]) -> int | None:
        if not self.histogram:
            return None
        # 0.999 · 1000 is 999.0000000000001 to a computer; a rank is a whole number
        rank = max(1, math.ceil(round(share * heights[-1], 6)))
        place = next((i for i, height in enumerate(heights) if height >= rank), len(heights) - 1)
        return max(self.min, min(self.histogram[place][0], self.max))

    # Merging ------------------------------------------------------------------------------
    def merged(self, other: Distribution) -> Distribution:
        """Return the distribution of both. Raises ValueError if their norms differ."""
        if not other.count or not self.count:
            return self if self.count else other
        if self.norm != other.norm:
            raise ValueError(f"norms of p = {self.norm:g} and p = {other.norm:g} cannot be merged")
        count = self.count + other.count
        apart = other.mean - self.mean
        buckets = Counter(dict(self.histogram))
        buckets.update(dict(other.histogram))
        return Distribution(
            count=count,
            mean=self.mean + apart * other.count / count,
            m2=self.m2 + other.m2 + apart * apart * self.count * other.count / count,
            norm=self.norm,
            power_sum=self.power_sum + other.power_sum,
            min=min(self.min, other.min),
            max=max(self.max, other.max),
            histogram=tuple(sorted(buckets.items())),
        )


def merge(several: Iterable[Distribution]) -> Distribution:
    """Return the distribution of all. Raises ValueError if their norms differ."""
    return reduce(Distribution.merged, several, Distribution())
