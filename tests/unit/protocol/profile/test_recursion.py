"""Recursion is one path: no time counts twice, and none is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Findings, Node
from tare.protocol.profile.recursion import folded
from tests.unit.protocol.profile.made import made


def node(findings: Findings, name: str) -> Node:
    (found,) = (one for one in findings.nodes if one.name == name)
    return found


def test_mutual_recursion_is_one_path_with_its_depth() -> None:
    own = {"f": [9, 1, 5], "f/g": [2, 2, 3], "f/g/f": [4, 8, 1], "f/g/f/g": [1, 0, 7], "f/g/f/g/h": [3, 1, 1]}
    findings = analyse(made(own))
    assert [(one.name, one.parent, one.recursion) for one in findings.nodes] == [
        ("transaction", None, 1),
        ("f", 0, 2),
        ("g", 1, 2),
        ("h", 2, 1),
    ]
    assert node(findings, "f").own_mean_ns == np.mean([13, 9, 6])
    assert node(findings, "g").mean_ns == np.mean([6, 3, 11])  # with h, without the inner f's own
    assert node(findings, "f").mean_ns == np.mean([19, 12, 17])


def test_what_is_left_of_a_path_is_taken_from_it_once() -> None:
    """The inner g returns to the outer one, the inner f above both: h is without either, g without f alone."""
    own = {"f": [1, 9, 4], "f/g": [2, 1, 5], "f/g/h": [3, 3, 4], "f/g/h/g": [9, 2, 1], "f/g/h/g/f": [7, 1, 8]}
    findings = analyse(made(own))
    assert {one.name: round(3 * one.mean_ns) for one in findings.nodes} == {
        "transaction": 60,
        "f": 60,
        "g": 30,
        "h": 10,
    }


def test_without_recursion_nothing_is_changed() -> None:
    plain = made({"f": [1, 2], "f/g": [3, 4], "g/f": [1, 1]})
    assert folded(plain) is plain


steps = st.lists(st.sampled_from("fghk"), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, min_size=1, max_size=8), st.integers(0, 2**31))
def test_equation_1_holds_and_own_shares_add_up_to_1_however_calls_recur(
    ways: list[list[str]], seed: int
) -> None:
    draw = np.random.default_rng(seed)
    findings = analyse(made({"/".join(way): draw.integers(1, 10_000, 20) for way in ways}), replicates=5)
    assert max(one.residue for one in findings.nodes) == 0
    assert abs(sum(one.own_covariance.value for one in findings.nodes) - 1) < 1e-9
    for one in findings.nodes:
        above, parent = [one.function], one.parent
        while parent is not None:
            above.append(findings.nodes[parent].function)
            parent = findings.nodes[parent].parent
        assert len(set(above)) == len(above)
