"""Answers with floating-point values: noise of the last bits is the same answer, a wrong digit is another one."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.answer import Answer, read_answer
from tare.measure.choices import AnswerRule
from tare.measure.doubles import BUCKETS, Doubles

Rows = Sequence[Sequence[object]]

finite = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e200, max_value=1e200)
tables = st.lists(st.tuples(st.integers(0, 3), finite, finite), min_size=1, max_size=20)


def answer(rows: Rows, rule: AnswerRule = AnswerRule.CLOSE, single: frozenset[int] = frozenset()) -> Answer:
    return read_answer(rows, rule, single)


def same(a: Rows, b: Rows, single: frozenset[int] = frozenset()) -> bool:
    one, two = answer(a, single=single), answer(b, single=single)
    if one.doubles is None or two.doubles is None:
        return one.hash == two.hash
    return one.exact == two.exact and one.doubles.compared(two.doubles)[0]


def noisy(rows: Rows, draw: random.Random, relative: float = 1e-14) -> list[tuple[object, ...]]:
    """The rows in another order, each value off in its last bits."""
    found = [
        tuple(v * (1 + draw.uniform(-relative, relative)) if isinstance(v, float) else v for v in row)
        for row in rows
    ]
    draw.shuffle(found)
    return found


@given(tables, st.randoms(use_true_random=False))
def test_noise_in_the_last_bits_in_any_order_is_the_same_answer(rows: Rows, draw: random.Random) -> None:
    assert same(rows, noisy(rows, draw))


@given(tables, st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_a_digit_that_is_wrong_in_the_eighth_place_is_another_answer(
    rows: Rows, place: int, draw: random.Random
) -> None:
    """Planted into the value of largest magnitude of its column."""
    row = max(range(len(rows)), key=lambda at: abs(rows[at][1]))  # type: ignore[arg-type]
    wrong = [list(one) for one in noisy(rows, draw, relative=0.0)]
    at = next(i for i, one in enumerate(wrong) if one[1] == rows[row][1])
    value = wrong[at][1]
    assert isinstance(value, float)
    wrong[at][1] = value * (1 + 1e-8) if abs(value) > 1e-290 else value + 1.0
    assert not same(rows, wrong)


def test_a_value_on_the_edge_of_rounding_is_the_same_answer() -> None:
    """Ten digits of these two differ; they are one unit in the last place apart."""
    low, high = 1.00000000049999989, 1.00000000050000011
    one, two = answer([(low,)]), answer([(high,)])
    assert one.hash != two.hash
    assert same([(low,)], [(high,)])


def test_values_that_change_rows_are_another_answer() -> None:
    assert not same([("a", 1.0), ("b", 2.0)], [("a", 2.0), ("b", 1.0)])
    assert not same([("a", 1.0, 3.0), ("a", 2.0, 4.0)], [("a", 1.0, 4.0), ("a", 2.0, 3.0)])


def test_near_ties_in_one_column_do_not_mix_up_the_other() -> None:
    """Sorted by their first column, noise alone exchanges these two rows."""
    up, down = 1.0 + 2e-16, 1.0 - 1e-16
    assert same([(up, 5.0), (down, 7.0)], [(down, 5.0), (up, 7.0)])


def test_the_exact_rest_of_a_row_is_compared_exactly() -> None:
    assert not same([("a", 1.0)], [("b", 1.0)])
    assert not same([(1, 1.0)], [(2, 1.0)])
    assert not same([(1.0, float("nan"))], [(1.0, float("inf"))])
    assert same([(1.0, float("nan"))], [(1.0, float("nan"))])


def test_single_precision_has_a_tolerance_of_its_own() -> None:
    first = frozenset({0})
    assert same([(1.0,)], [(1.000001,)], single=first)
    assert not same([(1.0,)], [(1.0001,)], single=first)
    assert not same([(1.0, 1.0)], [(1.0, 1.000001)], single=first)


def test_what_a_sum_leaves_after_cancelling_out_is_compared_by_its_column() -> None:
    assert same([("a", 1e6), ("b", 3e-11)], [("a", 1e6), ("b", -4e-11)])
    assert not same([("a", 1e6), ("b", 1.0)], [("a", 1e6), ("b", 1.00001)])


def test_values_within_lists_and_structures_are_compared_as_any_other() -> None:
    assert same([([0.1, 0.2], {"a": 1.0})], [([0.1, 0.2 + 3e-17], {"a": 1.0 + 2e-16})])
    assert not same([([0.1, 0.2],)], [([0.1, 0.2 * (1 + 1e-8)],)])
    assert not same([(["a, b"],)], [(["a", "b"],)])


def test_the_largest_difference_is_reported() -> None:
    one, two = answer([(1.0,), (2.0,)]).doubles, answer([(2.0,), (1.0 + 1e-12,)]).doubles
    assert one
    assert two
    agree, difference = one.compared(two)
    assert agree
    assert difference == pytest.approx(1e-12, rel=1e-3)


def test_exact_means_every_bit() -> None:
    near = 1.0 + 2e-16
    assert answer([(1.0,)], AnswerRule.EXACT).hash != answer([(near,)], AnswerRule.EXACT).hash
    assert answer([(1.0,), (near,)], AnswerRule.EXACT) != answer([(1.0,)], AnswerRule.EXACT)


def collected(rows: Sequence[tuple[int, float]], most: int) -> Doubles:
    doubles = Doubles(most)
    for key, value in rows:
        doubles.add(key, (False,), [value])
    return doubles.closed()


def test_more_values_than_are_kept_are_compared_by_sums() -> None:
    draw = random.Random(1)
    rows = [(draw.getrandbits(64), draw.uniform(1, 2)) for _ in range(2 * BUCKETS)]
    first = collected(rows, most=1000)
    assert first.by_sums
    assert first.count == len(rows)
    other = [(key, value * (1 + draw.uniform(-1e-14, 1e-14))) for key, value in rows]
    draw.shuffle(other)
    assert first.compared(collected(other, most=1000))[0]

    wrong = list(rows)
    wrong[7] = (rows[7][0], rows[7][1] * (1 + 1e-7))
    assert not first.compared(collected(wrong, most=1000))[0]
    wrong = list(rows)
    wrong[7], wrong[8] = (rows[7][0], rows[8][1]), (rows[8][0], rows[7][1])
    assert not first.compared(collected(wrong, most=1000))[0]
