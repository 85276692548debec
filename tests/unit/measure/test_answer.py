"""The answer's check tells bags of rows apart, and nothing else."""

import math
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from tare.measure.answer import answer_hash, canonical

values = st.one_of(st.none(), st.integers(), st.text(max_size=8), st.booleans(), st.binary(max_size=8))
bags = st.lists(st.tuples(values, values), max_size=12)


@given(bags, st.randoms())
def test_the_order_of_rows_is_of_no_account(rows: list[tuple[object, object]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert answer_hash(rows) == answer_hash(shuffled)


@given(bags.filter(bool))
def test_a_row_more_is_another_answer(rows: list[tuple[object, object]]) -> None:
    assert answer_hash(rows) != answer_hash([*rows, rows[0]])


def test_two_pairs_of_duplicates_do_not_cancel_out() -> None:
    assert answer_hash([(1,), (1,)]) != answer_hash([(2,), (2,)])


def test_null_empty_text_and_zero_are_three_values() -> None:
    assert len({canonical(None), canonical(""), canonical(0)}) == 3


def test_columns_do_not_run_into_each_other() -> None:
    assert answer_hash([("ab", "c")]) != answer_hash([("a", "bc")])


@given(st.integers(-(10**9), 10**9))
def test_equal_numbers_have_one_text_whatever_their_type(number: int) -> None:
    assert (
        canonical(number)
        == canonical(float(number))
        == canonical(Decimal(number))
        == canonical(Decimal(f"{number}.00"))
    )


def test_a_parallel_sum_that_differs_in_its_last_bits_is_the_same_answer() -> None:
    forward = math.fsum([0.1] * 10) / 3
    assert canonical(forward) == canonical(forward * (1 + 2e-16))
    assert canonical(1.0) != canonical(1.000001)


def test_infinities_and_nan_have_texts() -> None:
    assert {canonical(float("inf")), canonical(float("-inf")), canonical(float("nan"))} == {
        "inf",
        "-inf",
        "nan",
    }
