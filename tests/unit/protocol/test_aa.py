"""The A/A benchmark's own machinery: it counts what it says it counts."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.protocol.stop import Stop

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from aa import MODELS, compare_often, simulated, take


def equal(seed: int) -> Iterator[tuple[float, float]]:
    return ((100.0 + (seed + i) % 5, 100.0 + (seed + i) % 5) for i in itertools.count())


def test_equal_pairs_are_never_called_different_and_far_ones_always() -> None:
    assert compare_often(equal, 5, 1.0).tare == 0
    far = compare_often(lambda seed: ((a, 2 * b) for a, b in equal(seed)), 5, 2.0)
    assert (far.tare, far.welch, far.mann_whitney, far.hidden) == (1, 1, 1, 0)


def test_the_rule_takes_more_runs_only_as_long_as_it_must() -> None:
    assert take(equal(0), 12, None).runs_a == 12
    assert 12 < take(equal(0), 12, Stop(0.005, max_runs=60)).runs_a <= 60


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_gives_one_series(model: str) -> None:
    one, other = (list(itertools.islice(simulated(MODELS[model], 1.05)(7), 5)) for _ in range(2))
    assert one == other
