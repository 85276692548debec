"""The icicle's rectangles: right of zero less left of zero is all of the variance, and children stand under parents."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.report.profile import figures, flame
from tare.report.profile.charts.layout import Place, places
from tests.unit.report.profile import sample


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(0, 10_000))
def test_widths_add_up_and_children_stand_within_their_parents(n: int, seed: int) -> None:
    nodes = [figures.node(one) for one in sample.forest(n, seed)]
    found = places(nodes, 0.0, 1000)
    roots = [one for one in found if one.node.parent is None]
    right = sum(one.high for one in roots if one.positive)
    left = sum(-one.low for one in roots if not one.positive)
    assert right - left == pytest.approx(1.0, abs=1e-9)
    by_place: dict[tuple[int, bool], Place] = {(one.node.path, one.positive): one for one in found}
    below: dict[tuple[int, bool], list[Place]] = {}
    for one in found:
        if one.node.parent is not None:
            parent = by_place[one.node.parent, one.positive]
            assert parent.low - 1e-9 <= one.low <= one.high <= parent.high + 1e-9
            below.setdefault((one.node.parent, one.positive), []).append(one)
    for siblings in below.values():
        siblings.sort(key=lambda one: one.low)
        for before, after in pairwise(siblings):
            assert before.high <= after.low + 1e-9


def test_what_is_too_narrow_leaves_its_place_empty() -> None:
    nodes = [figures.node(one) for one in sample.forest(200)]
    every, wide = places(nodes, 0.0, 100), places(nodes, 0.05, 100)
    assert 0 < len(wide) < len(every)
    assert {(one.node.path, one.low, one.high) for one in wide} <= {
        (one.node.path, one.low, one.high) for one in every
    }


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(0, 10_000), st.integers(20, 200))
def test_a_terminals_flame_is_as_wide_as_the_terminal(n: int, seed: int, width: int) -> None:
    drawn = flame.lines([figures.node(one) for one in sample.forest(n, seed)], width)
    assert drawn
    assert max(map(len, drawn)) <= max(width, len("shorter where transactions are long:"))
    assert len(drawn[0]) >= width - 1 or "shorter where transactions are long:" in drawn


def test_nothing_to_draw_is_no_line() -> None:
    assert flame.lines([], 80) == []
    assert flame.lines(sample.alike().report.nodes, 80) == []
