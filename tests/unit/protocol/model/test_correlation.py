from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tare.protocol.model.correlation import Moments, merged, p_value


def _moments(x: np.ndarray, y: np.ndarray) -> Moments:
    dx, dy = x - x.mean(), y - y.mean()
    return Moments(len(x), x.mean(), y.mean(), (dx * dx).sum(), (dy * dy).sum(), (dx * dy).sum())


def test_merged_parts_are_as_good_as_the_whole() -> None:
    draw = np.random.default_rng(7)
    x = draw.gamma(1.0, 5.0, 900) + np.repeat([0.0, 40.0, 1e6], 300)
    y = 0.2 * x + draw.normal(0, 1e4, 900)
    parts = [_moments(x[i::7], y[i::7]) for i in range(7)]
    whole = merged(parts)
    assert whole.n == 900
    assert whole.r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_nothing_merged_is_nothing() -> None:
    assert merged([]).r is None
    assert merged([merged([]), merged([])]).n == 0


@pytest.mark.parametrize(("r", "n"), [(0.0, 3), (0.5, 3), (-0.5, 10), (0.05, 1000), (0.999999, 50)])
def test_p_is_that_of_scipy(r: float, n: int) -> None:
    """SciPy's own way: the exact distribution of r, a beta on [-1, 1]."""
    beta = stats.beta(n / 2 - 1, n / 2 - 1, loc=-1, scale=2)
    assert p_value(r, n) == pytest.approx(2 * beta.sf(abs(r)), rel=1e-6, abs=1e-300)


def test_a_p_that_no_double_can_hold_is_zero() -> None:
    assert p_value(0.4, 555_850) == 0.0
    assert p_value(1.0, 3) == 0.0
    assert 0 < p_value(0.05, 555_850) < 1e-300
