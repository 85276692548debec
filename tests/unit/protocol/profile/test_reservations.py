"""Reservations about a profile, which a report states before its figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Doubt, Estimate, Invalidity, Overhead
from tare.protocol.profile.reservations import enough
from tare.protocol.profile.validity import Verdict, invalidities, verdict
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


LITTLE = Estimate(0.01, 0.0, 0.02)


def slowed(low: float, high: float, growth: float | None = None) -> Overhead:
    latency = None if growth else Estimate((low + high) / 2, low, high)
    return Overhead(10, latency, None if growth else LITTLE, 0.04, 10, 50, 0.001, growth)


@pytest.mark.parametrize(
    ("overhead", "kind", "said"),
    [
        (
            slowed(0.06, 0.10),
            Invalidity.OVER_BUDGET,
            "profiling cost 8.0% in longer transactions, where 5.0% is allowed",
        ),
        (
            slowed(0.04, 0.08),
            Doubt.SLOWED,
            "profiling cost 6.0% in longer transactions, where 5.0% is allowed",
        ),
        (
            slowed(-0.2, 1.66),
            Invalidity.NOT_MEASURABLE,
            "the overhead is not measurable under this load",
        ),
        (
            slowed(0.0, 0.0, 3.5),
            Invalidity.NOT_STEADY,
            "the load is not steady: transactions took 3.5 times as",
        ),
    ],
)
def test_a_budget_that_was_not_kept_is_told_by_what_the_interval_shows(
    overhead: Overhead, kind: Invalidity | Doubt, said: str
) -> None:
    found = analyse(made(times(2_000)), replicates=20, overhead=overhead, budget=0.05)
    assert found.overhead == overhead
    (reservation,) = found.reservations
    assert reservation.kind == kind
    assert reservation.says.startswith(said)
    because = invalidities(found.transactions, found.invalid, overhead, 0.05)
    assert because == ((kind,) if isinstance(kind, Invalidity) else ())


def test_an_interval_within_the_budget_is_no_reservation_however_wide() -> None:
    assert invalidities(9, {}, slowed(-0.2, 0.04), 0.05) == ()
    assert verdict(slowed(-0.2, 0.04), 0.05) is Verdict.MEASURED


def test_a_profile_of_markers_alone_has_no_overhead_to_confirm() -> None:
    assert invalidities(9, {}, replace(slowed(-0.2, 1.0), events=0), 0.05) == ()
