"""What is said before the figures."""

from __future__ import annotations

import numpy as np
import pytest

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.reservations import enough
from tests.unit.protocol.profile.made import made


def times(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {"A": random.integers(900, 1_000, n), "A/B": random.integers(0, 1_000, n)}


def test_a_sound_profile_has_no_reservations() -> None:
    found = analyse(made(times(2_000)), replicates=200)
    assert (found.warnings, found.enough) == ((), None)


def test_more_than_one_percent_invalid_is_said_first() -> None:
    why = ["lost"] * 8 + ["unnested"] * 4 + ["valid"] * 188
    found = analyse(made(times(200), why=why, lost=77), replicates=50)
    assert found.invalid == {"lost": 8, "unnested": 4}
    assert found.transactions == 188
    assert found.warnings[0].startswith(
        "this profile is not valid: 6.0% of its transactions do not count (8 because records of theirs were lost, 4 "
    )
    assert any("too few" in one for one in found.warnings[1:])
    assert any(one.startswith("77 of ") for one in found.warnings)


def test_up_to_one_percent_invalid_is_counted_and_no_more() -> None:
    found = analyse(made(times(2_000), why=["lost"] * 20 + ["valid"] * 1_980), replicates=50)
    assert found.invalid == {"lost": 20}
    assert found.warnings == ()


def test_transactions_that_our_own_windows_cut_do_not_make_a_profile_invalid_but_are_told() -> None:
    found = analyse(made(times(2_000), why=["changed"] * 200 + ["valid"] * 1_800), replicates=50)
    (said,) = found.warnings
    assert said.startswith("10.0% of the transactions were cut")


def test_too_few_transactions_say_how_many_are_needed() -> None:
    found = analyse(made(times(40)), replicates=300)
    assert found.enough is not None
    assert found.enough >= 200
    assert any(f"some {found.enough:,} are needed" in one for one in found.warnings)


def test_the_number_needed_grows_as_the_square_of_the_interval() -> None:
    assert enough(1_000, Estimate(0.5, 0.3, 0.7)) == 4_000
    assert enough(1_000, Estimate(0.5, 0.41, 0.59)) is None


def test_one_transaction_that_makes_the_variance_is_told() -> None:
    own = times(1_000)
    own["A/B"][17] = 400_000
    assert any(
        "make" in one and "of the variance" in one for one in analyse(made(own), replicates=50).warnings
    )


@pytest.mark.parametrize(("low", "sure"), [(0.06, True), (0.01, False)])
def test_an_overhead_above_the_budget_is_told_with_how_sure_it_is(low: float, sure: bool) -> None:
    slowed = Overhead(10, Estimate(0.08, low, 0.1), Estimate(0.01, 0.0, 0.02), 0.04, 10, 50, 0.001)
    found = analyse(made(times(2_000)), replicates=20, overhead=slowed, budget=0.05)
    assert found.overhead == slowed
    (said,) = found.warnings
    assert said.startswith("profiling cost 8.0% in longer transactions, above the budget of 5.0%")
    assert ("holds less" in said) == (not sure)
