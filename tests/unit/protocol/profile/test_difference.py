"""Two profiles beside each other."""

from __future__ import annotations

import numpy as np
import pytest

from tare.protocol.profile.difference import Change, Difference, difference
from tare.protocol.profile.measured import Measured, Window
from tests.unit.protocol.profile.made import made, microseconds

N = 2_000


def profile(seed: int, lock: float, read: float = 10.0, **more: object) -> Measured:
    random = np.random.default_rng(seed)
    return made(
        {
            "run": microseconds(random.normal(50, 1, N)),
            "run/lock": microseconds(random.normal(200, lock, N)),
            "run/read": microseconds(random.normal(200, read, N)),
        },
        **more,  # type: ignore[arg-type]
    )


def change(found: Difference, name: str) -> Change:
    (one,) = (one for one in found.functions if one.name == name)
    return one


def test_a_source_that_is_gone_is_named_first_with_what_it_took_along() -> None:
    found = difference(profile(1, lock=40), profile(2, lock=4))
    assert found.functions[0].name == "lock"
    assert found.functions[0].established
    assert found.functions[0].change.value == pytest.approx((4**2 - 40**2) * 1e6, rel=0.1)
    assert found.variance_ratio.low < (16 + 101) / (1600 + 101) < found.variance_ratio.high
    assert found.p99_change.high < 0
    assert found.warnings == ()


def test_another_source_does_not_seem_to_grow_because_one_is_gone() -> None:
    """Its share goes from 6% to 85%; in ns² it is what it was."""
    read = change(difference(profile(1, lock=40), profile(2, lock=4)), "read")
    assert read.share[1] > 10 * read.share[0]
    assert not read.established


def test_changes_of_all_functions_add_up_to_the_change_of_the_variance() -> None:
    found = difference(profile(1, lock=40), profile(2, lock=15))
    before, after = found.variance_ns2
    assert sum(one.change.value for one in found.functions) == pytest.approx(after - before)


def test_two_profiles_of_the_same_are_told_apart_no_more_often_than_promised() -> None:
    found = [
        difference(profile(2 * seed, 20), profile(2 * seed + 1, 20), replicates=200) for seed in range(20)
    ]
    changes = [one for each in found for one in each.functions if one.name != "transaction"]
    assert len(changes) == 60
    assert sum(one.established for one in changes) <= 8
    assert sum(not each.p99_change.low <= 0 <= each.p99_change.high for each in found) <= 4


def test_a_profile_held_against_itself_differs_by_nothing_give_or_take_what_a_second_one_might() -> None:
    one = profile(1, lock=40)
    lock = change(difference(one, one), "lock")
    assert lock.change.value == 0
    assert lock.change.low < -5e7 < 5e7 < lock.change.high


def test_functions_are_the_same_by_name_whatever_their_number() -> None:
    random = np.random.default_rng(1)
    lock, read = (microseconds(random.normal(100, 10, N)) for _ in range(2))
    found = difference(made({"lock": lock, "read": read}), made({"read": read, "lock": lock}), replicates=50)
    assert {one.name: one.change.value for one in found.functions} == {"transaction": 0, "lock": 0, "read": 0}


def test_a_function_watched_in_one_profile_only_is_said_to_be_so() -> None:
    both = (Window(0, 0, 1, "probed", 1, (1, 2, 3)),)
    fewer = (Window(0, 0, 1, "probed", 1, (1, 2)),)
    found = difference(profile(1, 20, windows=both), profile(2, 20, windows=fewer), replicates=20)
    assert found.warnings == (
        "watched before only: read; in the other profile their time is their callers' own: compare profiles that "
        "watch the same functions",
    )


def test_an_invalid_profile_is_said_to_be_so() -> None:
    why = ["lost"] * 50 + ["valid"] * (N - 50)
    found = difference(profile(1, 20, why=why), profile(2, 20), replicates=20)
    assert found.warnings == ("the profile before is not valid: 2.5% of its transactions do not count",)
