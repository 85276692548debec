"""Doubles of an answer are compared by tolerance, in any order of rows, in bounded memory."""

import random

import pytest

from tare.measure import doubles
from tare.measure.answer import Answer, Change
from tare.measure.choices import AnswerRule
from tare.measure.doubles import _SLOTS, KEPT, position, relative

Rows = list[tuple[object, ...]]


def change(first: Rows, later: Rows, rule: AnswerRule = AnswerRule.CLOSE) -> Change:
    return Answer(len(later), later, rule).difference(Answer(len(first), first, rule)).change


def summed_otherwise(rows: Rows, seed: int = 0) -> Rows:
    """The same rows in another order, each double off by up to 1e-14 of itself."""
    draw = random.Random(seed)
    moved = [
        tuple(v * (1 + draw.uniform(-1e-14, 1e-14)) if isinstance(v, float) else v for v in row)
        for row in rows
    ]
    draw.shuffle(moved)
    return moved


def with_a_wrong_digit(rows: Rows, at: int, column: int) -> Rows:
    wrong = list(rows)
    row = list(wrong[at])
    row[column] *= 1 + 1e-8  # type: ignore[operator]
    wrong[at] = tuple(row)
    return wrong


def grouped(n: int, seed: int = 1) -> Rows:
    draw = random.Random(seed)
    return [(i, draw.uniform(-1, 1) * 10 ** draw.randint(-9, 9), draw.random()) for i in range(n)]


def keyless(n: int, seed: int = 2) -> Rows:
    draw = random.Random(seed)
    return [(draw.uniform(-1, 1) * 10 ** draw.randint(-9, 9),) for _ in range(n)]


@pytest.mark.parametrize("rows", [grouped(2_000), keyless(2_000)], ids=["grouped", "keyless"])
@pytest.mark.parametrize("kept", [KEPT, 500], ids=["kept", "histogram"])
def test_sums_in_another_order_are_the_same_answer_and_a_digit_wrong_at_1e_8_is_another(
    rows: Rows, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doubles, "KEPT", kept)
    later = summed_otherwise(rows)
    first = Answer(len(rows), rows)
    same = Answer(len(later), later).difference(first)
    assert same.change is Change.NOTHING
    assert same.apart is not None
    assert 0 < same.apart.relative < 1e-11
    draw = random.Random(3)
    for _ in range(20):
        at, column = draw.randrange(len(rows)), draw.randrange(1, len(rows[0])) if len(rows[0]) > 1 else 0
        wrong = Answer(len(rows), with_a_wrong_digit(later, at, column)).difference(first)
        assert wrong.change is Change.DOUBLES
        assert wrong.apart is not None
        assert 0.9e-8 < wrong.apart.relative < 2.1e-8


def test_values_next_to_the_edge_of_a_rounding_are_the_same_answer() -> None:
    edge = 0.12345678905  # ten digits end in 90 or 91
    assert Answer(1, [(edge,)]).hash != Answer(1, [(edge * (1 - 1e-15),)]).hash
    assert change([(edge,)], [(edge * (1 - 1e-15),)]) is Change.NOTHING


def test_the_difference_names_the_two_values() -> None:
    found = Answer(1, [("a", 1.00000002)]).difference(Answer(1, [("a", 1.0)]))
    assert found.apart is not None
    assert found.apart.values == (1.0, 1.00000002)
    assert "differs by 2e-08 of itself (1.0 and 1.00000002); up to 1e-09 counts as equal" in found.text


def test_what_is_exact_is_compared_exactly_also_beside_doubles() -> None:
    rows: Rows = [(1, "a", 0.5), (2, "b", 0.25)]
    assert change(rows, [(1, "a", 0.5), (2, "c", 0.25)]) is Change.VALUES
    assert change(rows, [(1, "a", 0.5)]) is Change.ROWS
    assert change(rows, [(1, "a", None), (2, "b", 0.25)]) is Change.VALUES
    assert change(rows, [(1, "a", float("nan")), (2, "b", 0.25)]) is Change.VALUES
    assert change(rows, [(1, "a", 0.25), (2, "b", 0.5)]) is Change.DOUBLES, "doubles that changed rows"


def test_doubles_within_lists_and_documents_count_as_doubles() -> None:
    assert change([([0.1, 2.0],)], [([0.1 * (1 + 1e-15), 2.0],)]) is Change.NOTHING
    assert change([({"a": 0.1},)], [({"a": 0.1000001},)]) is Change.DOUBLES
    assert change([({"a": 0.1},)], [({"b": 0.1},)]) is Change.VALUES


def test_exact_means_to_the_last_bit() -> None:
    assert change([(0.1,)], [(0.1 * (1 + 2e-16),)], AnswerRule.EXACT) is Change.VALUES
    assert change([(0.1,), (0.2,)], [(0.2,), (0.1,)], AnswerRule.EXACT) is Change.NOTHING


def test_the_line_of_doubles_has_no_gap_at_zero_or_at_powers_of_two() -> None:
    assert position(0.0) == position(-0.0) == 0
    assert [position(5e-324), position(-5e-324)] == [1, -1]
    assert position(2.0) - position(2.0 - 2.0**-52) == 1
    assert [relative(1.0, 1.0), relative(1e308, -1e308), relative(0.0, 1e-300)] == [0, 2, 1]


def test_a_large_answer_is_kept_as_a_histogram_of_fixed_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubles, "KEPT", 100)
    for rows in (101, 5_000):
        found = Answer(0, keyless(rows)).doubles
        assert len(found) == rows
        assert found._histogram is not None
        assert len(found._histogram._weights) == _SLOTS
        assert not found._values
