"""The tree is cut to a size, and nothing is lost by it: what is not shown is put together."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.report.profile.build import Built, build
from tare.report.profile.document import ProfileReport
from tare.report.profile.tree import Subtree, Weights, cut
from tests.unit.report.profile import sample


def report(n: int, seed: int) -> ProfileReport:
    found = sample.Bare(500, sample.forest(n, seed)).findings(mean_ns=1e6, sd_ns=1e5)
    return build(found, sample.ABOUT).report


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 120), st.integers(0, 10_000), st.integers(1, 60))
def test_own_shares_of_what_is_shown_and_of_what_is_not_add_up_to_all(n: int, seed: int, most: int) -> None:
    root = cut(report(n, seed), most)
    shown = list(root)
    assert 1 <= len(shown) <= most
    own = [one.node.own_covariance.value for one in shown if one.node.own_covariance]
    own += [one.rest.own for one in shown if one.rest]
    assert math.fsum(own) == pytest.approx(1.0, abs=1e-9)
    assert len(shown) + sum(one.rest.paths for one in shown if one.rest) == n


def test_every_level_adds_up_by_equation_1(built: Built) -> None:
    root = Weights(built.report.nodes).subtree(0, 0.0)
    pairs: dict[int, float] = {}
    for one in built.report.pairs:
        pairs[one.parent] = pairs.get(one.parent, 0.0) + (one.covariance or 0.0)
    assert len(list(root)) == len(built.report.nodes)
    for subtree in root:
        if subtree.node.children:
            assert subtree.together == pytest.approx(pairs.get(subtree.node.path, 0.0), abs=1e-9)


def test_the_largest_child_comes_first(built: Built) -> None:
    root = cut(built.report, 100)

    def variance(of: Subtree) -> float:
        return of.node.variance.value if of.node.variance else 0.0

    for subtree in root:
        values = [variance(one) for one in subtree.subtrees]
        assert values == sorted(values, reverse=True)
