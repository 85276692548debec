"""The search for the highest rate within a budget, on servers whose knee is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.protocol.oltp.limit import (
    MOST_STEPS,
    VOTES,
    Ended,
    Limit,
    Side,
    bracket,
    ended,
    next_place,
)

BELOW, ABOVE, UNDECIDED = Side.BELOW, Side.ABOVE, Side.UNDECIDED
RATES = tuple(float(f"{10 * 1.05**step:.3g}") for step in range(160))


def search(
    server: Callable[[float], Side], rates: Sequence[float] = RATES, start: int = 47
) -> Mapping[int, list[Side]]:
    """Verdicts of a whole search."""
    sides: dict[int, list[Side]] = {}
    while (place := next_place(rates, sides, start)) is not None:
        sides.setdefault(place, []).append(server(rates[place]))
        assert sum(map(len, sides.values())) < 200, "the search does not end"
    return sides


def steps(sides: Mapping[int, Sequence[Side]]) -> int:
    return sum(map(len, sides.values()))


@given(
    knee=st.floats(11, 20_000),
    rates=st.lists(st.integers(1, 30_000), min_size=2, max_size=60, unique=True).map(sorted),
    data=st.data(),
)
def test_without_noise_the_bracket_holds_the_knee_and_has_no_rate_within(
    knee: float, rates: list[int], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(rates) - 1))
    sides = search(lambda rate: BELOW if rate < knee else ABOVE, rates, start)
    found = bracket(sides)
    low = -1 if found.low is None else found.low
    high = len(rates) if found.high is None else found.high
    assert high - low == 1
    assert low < 0 or rates[low] < knee
    assert high == len(rates) or rates[high] >= knee
    assert all(len(sides[end]) == VOTES for end in (found.low, found.high) if end is not None)
    assert ended(rates, sides, start) in (Ended.CLOSED, Ended.NOT_REACHED, Ended.ALWAYS_ABOVE)


def noisy(chance: random.Random, knee: float, spread: float = 0.25) -> Callable[[float], Side]:
    """A server whose p99 grows with the fourth power of the rate and is estimated with an error and its 95%
    interval; near the knee one step in ten falls into the slow regime."""

    def server(rate: float) -> Side:
        if 0.8 * knee < rate < knee and chance.random() < 0.1:
            return ABOVE
        estimate = (rate / knee) ** 4 * chance.lognormvariate(0, spread)
        half = 1.96 * spread
        if estimate * 2.718281828**half < 1:
            return BELOW
        if estimate / 2.718281828**half > 1:
            return ABOVE
        return Side.LEANS_BELOW if estimate < 1 else Side.LEANS_ABOVE

    return server


def test_the_bracket_holds_the_knee_of_a_noisy_server_in_95_of_100_searches() -> None:
    chance = random.Random(27)
    held = cost = 0
    searches = 400
    for _ in range(searches):
        knee = chance.uniform(40, 8000)
        sides = search(noisy(chance, knee))
        found = bracket(sides)
        low = 0.0 if found.low is None else RATES[found.low]
        high = float("inf") if found.high is None else RATES[found.high]
        # A step in the slow regime lies above the budget, though the rate is below the knee by its percentile.
        held += low < knee and high > 0.8 * knee
        cost += steps(sides)
    assert held >= 0.95 * searches
    assert cost / searches < 30


def test_a_knee_that_moves_down_while_tables_grow_widens_the_bracket_and_does_not_shift_it() -> None:
    taken = {40: [BELOW], 50: [ABOVE], 45: [BELOW], 44: [ABOVE]}
    found = bracket(taken)
    assert (found.low, found.high) == (40, 50)


def test_the_search_grows_until_the_budget_is_exceeded() -> None:
    rates = (100.0, 200.0, 300.0, 400.0, 800.0, 900.0)
    assert next_place(rates, {}, 0) == 0
    assert next_place(rates, {0: [BELOW]}, 0) == 1
    assert next_place(rates, {0: [BELOW], 1: [Side.LEANS_BELOW]}, 0) == 3
    assert next_place(rates, {0: [BELOW], 3: [BELOW]}, 0) == 4


def test_leanings_guide_the_search_and_do_not_end_it() -> None:
    rates = tuple(float(rate) for rate in range(100, 2000, 100))
    sides = search(
        lambda rate: BELOW if rate < 500 else Side.LEANS_BELOW if rate < 900 else Side.LEANS_ABOVE
        if rate < 1200 else ABOVE, rates, 0
    )  # fmt: skip
    found = bracket(sides)
    assert found.low is not None
    assert found.high is not None
    assert rates[found.low] < 500
    assert rates[found.high] >= 1200
    assert min(sides) == 0


def test_an_end_that_a_second_step_contradicts_is_left() -> None:
    sides = {0: [BELOW, BELOW], 1: [BELOW, ABOVE], 2: [ABOVE, ABOVE]}
    rates = (100.0, 200.0, 300.0)
    assert bracket(sides).low == 0
    assert bracket(sides).high == 2
    assert ended(rates, sides, 0) is Ended.CLOSED


def test_a_rate_that_stays_undecided_is_tried_a_few_times_and_then_left() -> None:
    rates = (100.0, 200.0, 300.0)
    sides = search(lambda rate: {100.0: BELOW, 200.0: UNDECIDED, 300.0: ABOVE}[rate], rates, 0)
    assert len(sides[1]) == MOST_STEPS
    assert ended(rates, sides, 0) is Ended.CLOSED


@pytest.mark.parametrize(
    ("side", "expected"),
    [(BELOW, Ended.NOT_REACHED), (ABOVE, Ended.ALWAYS_ABOVE), (UNDECIDED, Ended.UNDECIDED)],
)
def test_a_search_that_meets_one_side_alone_says_so(side: Side, expected: Ended) -> None:
    rates = (100.0, 200.0, 300.0)
    assert ended(rates, search(lambda _: side, rates, 1), 1) is expected


def test_a_limit_knows_its_percentile() -> None:
    assert Limit("p99.9", 50.0).share == pytest.approx(0.999)
    assert Limit("mean", 50.0).share is None
