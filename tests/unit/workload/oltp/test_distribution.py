"""Figures of a distribution against those of the values that it was made of."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tare.workload.oltp.distribution import Distribution, merge

NORM = 3.0


def of(values: list[int], norm: float = NORM) -> Distribution:
    """With buckets of the values themselves."""
    array = np.asarray(values, dtype=float)
    return Distribution(
        count=len(values),
        mean=float(array.mean()),
        m2=float(((array - array.mean()) ** 2).sum()),
        norm=norm,
        power_sum=float(((array / 1e6) ** norm).sum()),
        min=min(values),
        max=max(values),
        histogram=tuple(sorted(Counter(values).items())),
    )


def drawn(seed: int, count: int) -> list[int]:
    return [int(v) for v in np.random.default_rng(seed).lognormal(15, 1, count)]


def test_moments_are_those_of_the_values() -> None:
    values = drawn(1, 500)
    found = of(values)
    assert found.variance == pytest.approx(np.var(values, ddof=1))
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    assert found.cv == pytest.approx(np.std(values, ddof=1) / np.mean(values))
    in_ms = np.asarray(values) / 1e6
    assert found.lp_norm_ms == pytest.approx(np.linalg.norm(in_ms, NORM))
    assert found.power_mean_ms == pytest.approx(np.mean(in_ms**NORM) ** (1 / NORM))


def test_the_power_mean_of_order_one_is_the_mean() -> None:
    values = drawn(2, 100)
    assert of(values, 1.0).power_mean_ms == pytest.approx(np.mean(values) / 1e6)


@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0])
def test_a_quantile_is_the_least_value_that_so_many_do_not_exceed(share: float) -> None:
    values = drawn(3, 1000)
    wanted = np.quantile(values, share, method="inverted_cdf")
    assert of(values).quantile(share) == wanted


def test_the_999th_of_1000_is_found_although_a_product_of_floats_overshoots() -> None:
    assert of(list(range(1, 1001))).quantile(0.999) == 999


def test_a_quantile_never_lies_beyond_the_smallest_and_the_largest_value() -> None:
    one = Distribution(count=1, mean=995.0, min=995, max=995, histogram=((999, 1),))
    assert one.quantiles((0.0, 0.5, 1.0)) == [995, 995, 995]


def test_of_nothing_there_is_no_figure() -> None:
    nothing = Distribution()
    assert nothing.quantile(0.5) is None
    assert (nothing.variance, nothing.sd, nothing.cv) == (None, None, None)
    assert (nothing.lp_norm_ms, nothing.power_mean_ms) == (None, None)


def test_one_value_has_no_variance() -> None:
    assert of([5]).variance is None


def test_merged_parts_are_the_whole() -> None:
    values = drawn(4, 900)
    parts = [of(values[:10]), of(values[10:500]), Distribution(), of(values[500:])]
    whole, found = of(values), merge(parts)
    assert (found.count, found.min, found.max) == (whole.count, whole.min, whole.max)
    assert found.histogram == whole.histogram
    assert math.isclose(found.mean, whole.mean, rel_tol=1e-12)
    assert math.isclose(found.m2, whole.m2, rel_tol=1e-12)
    assert math.isclose(found.power_sum, whole.power_sum, rel_tol=1e-12)


def test_norms_of_unlike_order_do_not_merge() -> None:
    with pytest.raises(ValueError, match="p = 2 and p = 3"):
        of([1, 2], 2.0).merged(of([1, 2], 3.0))


def test_it_reads_what_the_driver_writes() -> None:
    text = '{"count":2,"mean":1.5,"m2":0.5,"norm":2.0,"power_sum":1e-11,"min":1,"max":2,"histogram":[[1,1],[2,1]]}'
    assert Distribution.model_validate_json(text).quantile(0.5) == 1
