"""The variance tree by hand: Fig. 1 of the paper, and what it says of parts that vary against each other."""

from __future__ import annotations

import numpy as np
import pytest

from tare.errors import TooFewTransactions
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Findings, Node
from tests.unit.protocol.profile.made import WAITING, made


def node(findings: Findings, name: str, under: str | None = None) -> Node:
    (found,) = (
        one
        for one in findings.nodes
        if one.name == name and (under is None or findings.nodes[one.parent or 0].name == under)
    )
    return found


def pair(findings: Findings, left: Node, right: Node) -> float:
    """0 where there is none."""
    return sum(one.covariance for one in findings.pairs if {one.left, one.right} == {left.path, right.path})


def test_a_function_with_two_children_has_the_tree_of_figure_1() -> None:
    """A calls B and C. Of 4 transactions: body 1 1 3 3, B 2 4 2 4, C 5 5 5 9; all variances by n - 1."""
    findings = analyse(made({"A": [1, 1, 3, 3], "A/B": [2, 4, 2, 4], "A/C": [5, 5, 5, 9]}))
    a, b, c = node(findings, "A"), node(findings, "B"), node(findings, "C")
    total = 12  # of 8 10 10 16
    assert [one.name for one in findings.nodes] == ["transaction", "A", "B", "C"]
    assert a.children == (b.path, c.path)
    assert findings.sd_ns**2 == pytest.approx(total)
    assert a.variance.value == pytest.approx(1)
    assert a.own_variance * total == pytest.approx(4 / 3)
    assert b.variance.value * total == pytest.approx(4 / 3)
    assert c.variance.value * total == pytest.approx(4)
    assert pair(findings, a, b) * total == pytest.approx(0)
    assert pair(findings, a, c) * total == pytest.approx(2 * 4 / 3)
    assert pair(findings, b, c) * total == pytest.approx(2 * 4 / 3)
    parts = a.own_variance + b.variance.value + c.variance.value
    assert parts + sum(one.covariance for one in findings.pairs if one.parent == a.path) == pytest.approx(1)
    assert {one.residue for one in findings.nodes} == {0.0}


def test_a_committer_either_waits_or_writes_and_so_their_covariance_is_negative() -> None:
    """The pair takes off what the two have too much: their variances alone are more than all there is."""
    waits = np.array([0, 100, 0, 100, 0, 100])
    findings = analyse(
        made({"flush": [10, 11, 12, 13, 14, 15], "flush/wait": waits, "flush/write": 100 - waits})
    )
    wait, write = node(findings, "wait"), node(findings, "write")
    assert wait.variance.value > 100
    assert write.variance.value > 100
    assert pair(findings, wait, write) == pytest.approx(-wait.variance.value - write.variance.value)
    assert node(findings, "flush").own_covariance.value + wait.own_covariance.value + (
        write.own_covariance.value
    ) == pytest.approx(1)


def test_call_sites_of_one_path_are_one_node_and_stay_apart_beside_it() -> None:
    """os_event_wait [A] and [B]: together they do not vary at all, since one is long when the other is not."""
    findings = analyse(
        made(
            {
                "A/wait@16": [9, 1, 9, 1],
                "A/wait@32": [1, 9, 1, 9],
                "A/work": [1, 2, 3, 4],
            },
            calls={"A/wait@16": [2, 2, 2, 2], "A/wait@32": [3, 3, 3, 4]},
        )
    )
    wait = node(findings, "wait")
    assert wait.variance.value == 0
    assert wait.calls == pytest.approx(5.25)
    total = findings.sd_ns**2
    assert [(one.address, one.calls, one.variance * total) for one in wait.sites] == [
        (16, 2.0, pytest.approx(64 / 3)),
        (32, 3.25, pytest.approx(64 / 3)),
    ]


def test_a_call_site_that_a_transaction_did_not_come_by_took_no_time_in_it() -> None:
    findings = analyse(made({"A/wait@16": [0, 0, 0, 40], "A/wait@32": [1, 2, 3, 4]}))
    total = findings.sd_ns**2
    rare, often = node(findings, "wait").sites
    assert rare.variance * total == pytest.approx(np.var([0, 0, 0, 40], ddof=1))
    assert often.variance * total == pytest.approx(np.var([1, 2, 3, 4], ddof=1))


def test_a_path_that_a_transaction_did_not_go_took_no_time_in_it() -> None:
    findings = analyse(made({"A": [5, 5, 5, 5], "A/rare": [0, 0, 0, 40]}))
    rare = node(findings, "rare")
    assert rare.mean_ns == 10
    assert rare.calls == 0.25
    assert rare.sd_ns == pytest.approx(20)
    assert rare.own_covariance.value == pytest.approx(1)


def test_waiting_between_intervals_is_a_node_of_its_own() -> None:
    findings = analyse(made({"A": [5, 6, 5, 6], WAITING: [0, 50, 10, 80]}))
    assert (
        findings.nodes[1].name == "[waiting for the client]"
        or findings.nodes[2].name == "[waiting for the client]"
    )
    assert findings.waiting == pytest.approx(node(findings, "[waiting for the client]").own_covariance.value)
    assert sum(one.own_covariance.value for one in findings.nodes) == pytest.approx(1)


def test_times_that_do_not_add_up_show_in_the_residue() -> None:
    """Else the residue would be a figure that cannot fail."""
    findings = analyse(made({"A": [1, 2, 3, 4], "A/B": [4, 1, 5, 2]}, whole=False))
    assert findings.nodes[0].residue > 0.1
    assert node(findings, "A").residue == 0


def test_equation_1_holds_where_its_terms_are_a_million_million_times_what_they_come_to() -> None:
    """Two parts of 10^13 ns that cancel, and 1 ns of difference: floating point alone would be lost here."""
    random = np.random.default_rng(1)
    long = random.integers(0, 10**13, 400)
    findings = analyse(
        made({"A": random.integers(0, 2, 400), "A/wait": long, "A/write": 10**13 - long}), replicates=20
    )
    assert max(one.residue for one in findings.nodes) == 0
    a = node(findings, "A")
    assert a.sd_ns == pytest.approx(0.5, rel=0.05)
    assert node(findings, "wait").variance.value > 1e24


def test_cpu_time_is_told_where_it_was_read() -> None:
    spinning = analyse(made({"A": [10, 20, 30, 40]}, cpu=[10, 20, 30, 40])).on_cpu
    sleeping = analyse(made({"A": [10, 20, 30, 40]}, cpu=[10, 10, 10, 10])).on_cpu
    unread = analyse(made({"A": [10, 20, 30, 40]})).on_cpu
    partly = analyse(made({"A": [10, 20, 30, 40]}, cpu=[10, None, 30, 40])).on_cpu
    assert spinning is not None
    assert sleeping is not None
    assert partly is not None
    assert (spinning.value, sleeping.value, partly.value, unread) == (1, 0, pytest.approx(1), None)


def test_where_nothing_varies_there_is_nothing_to_explain() -> None:
    with pytest.raises(TooFewTransactions, match="all 3 transactions took 5 ns"):
        analyse(made({"A": [5, 5, 5]}))
    with pytest.raises(TooFewTransactions, match="1 valid"):
        analyse(made({"A": [5]}))
    with pytest.raises(TooFewTransactions, match="no valid transaction; 2 were recorded"):
        analyse(made({"A": [5, 6]}, why=["lost", "lost"]))
