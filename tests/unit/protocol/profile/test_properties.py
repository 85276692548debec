"""Properties of the analysis of any profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Findings
from tare.protocol.profile.types import types_of
from tests.unit.protocol.profile.made import WAITING, made

some = settings(max_examples=40, deadline=None)

NAMES = ("a", "b", "c", "d")
Own = dict[str, list[int]]


@st.composite
def profiles(draw: st.DrawFn, longest: int = 2**40) -> Own:
    """Call paths of a random tree, functions beneath themselves too; times from nothing to hours."""
    n = draw(st.integers(3, 30))
    times = st.lists(
        st.one_of(st.just(0), st.integers(0, 1000), st.integers(0, longest)), min_size=n, max_size=n
    )
    paths = [""]
    for _ in range(draw(st.integers(1, 8))):
        above = draw(st.sampled_from(paths))
        step = draw(st.sampled_from(NAMES)) + draw(st.sampled_from(("", "@16", "@32")))
        path = f"{above}/{step}" if above else step
        if path not in paths:
            paths.append(path)
    own = {path: draw(times) for path in paths}
    if draw(st.booleans()):
        own[WAITING] = draw(times)
    total = np.sum([np.array(values) for values in own.values()], axis=0)
    if np.ptp(total) == 0:
        own[""][0] += 1
    return own


def found(own: Mapping[str, Any], **more: Any) -> Findings:
    return analyse(made(own, **more), replicates=5)


def figures(findings: Findings) -> dict[str, list[Any]]:
    """Figures that do not depend on the draw of the bootstrap."""
    return {
        "nodes": [
            (one.name, one.mean_ns, one.sd_ns, one.variance.value, one.own_covariance.value, one.covariance)
            for one in findings.nodes
        ],
        "pairs": sorted((one.parent, one.left, one.right, one.covariance) for one in findings.pairs),
        "factors": sorted((one.names, one.kind, one.score) for one in findings.factors),
        "all": [findings.mean_ns, findings.sd_ns, findings.p99_ns, findings.waiting],
    }


def close(left: Any, right: Any) -> None:
    """Numbers to 1e-9, all else as it is."""
    if isinstance(left, dict):
        for key in left:
            close(left[key], right[key])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            close(one, other)
    elif isinstance(left, float):
        assert left == pytest.approx(right, rel=1e-9, abs=1e-12)
    else:
        assert left == right


@some
@given(profiles())
def test_equation_1_holds_at_every_node(own: Own) -> None:
    """The equation holds as recorded, in whole numbers, and as reported, in shares of Var(T)."""
    findings = found(own)
    assert max(one.residue for one in findings.nodes) < 1e-9
    for node in findings.nodes:
        if node.children:
            parts = [node.own_variance, *(findings.nodes[child].variance.value for child in node.children)]
            pairs = [one.covariance for one in findings.pairs if one.parent == node.path]
            size = sum(map(abs, (*parts, *pairs)))
            assert sum(parts) + sum(pairs) == pytest.approx(node.variance.value, rel=1e-9, abs=1e-12 * size)


@some
@given(profiles())
def test_covariances_of_own_times_with_the_total_add_up_to_all_of_it(own: Own) -> None:
    findings = found(own)
    shares = [one.own_covariance.value for one in findings.nodes]
    assert sum(shares) == pytest.approx(1, rel=1e-9, abs=1e-12 * sum(map(abs, shares)))
    for node in findings.nodes:
        beneath = [findings.nodes[child].covariance for child in node.children]
        size = abs(node.own_covariance.value) + sum(map(abs, beneath))
        assert node.own_covariance.value + sum(beneath) == pytest.approx(
            node.covariance, rel=1e-9, abs=1e-12 * size
        )


@some
@given(profiles())
def test_own_times_of_all_functions_make_the_mean(own: Own) -> None:
    findings = found(own)
    assert sum(one.own_mean_ns for one in findings.nodes) == pytest.approx(findings.mean_ns)


@some
@given(profiles(), st.randoms(use_true_random=False))
def test_the_order_of_transactions_does_not_matter(own: Own, random: Any) -> None:
    n = len(next(iter(own.values())))
    order = random.sample(range(n), n)
    close(
        figures(found({path: np.array(values)[order] for path, values in own.items()})), figures(found(own))
    )


@some
@given(profiles(longest=2**30), st.sampled_from((2, 7, 1000)))
def test_the_unit_of_time_does_not_matter(own: Own, factor: int) -> None:
    before, after = found(own), found({path: np.array(values) * factor for path, values in own.items()})
    assert [one.variance.value for one in after.nodes] == pytest.approx(
        [one.variance.value for one in before.nodes]
    )
    assert after.sd_ns == pytest.approx(before.sd_ns * factor)
    close(figures(after)["factors"], figures(before)["factors"])


@some
@given(profiles(longest=2**30), st.data())
def test_what_always_takes_as_long_has_no_part_in_any_variance(own: Own, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([one for one in own if one != WAITING]))
    longer = {**own, path: (np.array(own[path]) + 10**9).tolist()}
    before, after = found(own), found(longer)
    names = [one.name for one in before.nodes]
    if names == [one.name for one in after.nodes]:  # a path never gone before is a new node
        for left, right in zip(before.nodes, after.nodes, strict=True):
            assert left.variance.value == pytest.approx(right.variance.value, rel=1e-9, abs=1e-12)
            assert left.own_covariance.value == pytest.approx(right.own_covariance.value, rel=1e-9, abs=1e-12)


@some
@given(profiles(longest=2**30))
def test_call_sites_make_no_difference_to_a_node(own: Own) -> None:
    """A profile whose backend cannot tell sites gives the same tree."""
    merged: dict[str, Any] = {}
    for path, values in own.items():
        name = "/".join(step.partition("@")[0] for step in path.split("/"))
        merged[name] = merged.get(name, 0) + np.array(values)
    apart, together = found(own), found(merged)
    key = sorted(
        (one.name, one.depth, round(one.mean_ns, 3), round(one.variance.value, 9)) for one in apart.nodes
    )
    assert key == sorted(
        (one.name, one.depth, round(one.mean_ns, 3), round(one.variance.value, 9)) for one in together.nodes
    )


@some
@given(profiles())
def test_every_interval_holds_its_figure_and_excesses_add_up(own: Own) -> None:
    findings = found(own)
    estimates = [one.share for one in findings.factors] + [one.excess for one in findings.tail]
    estimates += [estimate for one in findings.nodes for estimate in (one.variance, one.own_covariance)]
    assert all(one.low <= one.value <= one.high for one in estimates)
    if findings.tail:
        assert sum(one.excess.value for one in findings.tail) == pytest.approx(1)


@some
@given(profiles())
def test_without_waiting_equation_1_and_the_sum_hold_too_and_what_is_beneath_is_the_same(own: Own) -> None:
    own = {**own, WAITING: own.get(WAITING, [7 * t for t in range(len(own[""]))])}
    whole = made(own)
    assume(np.ptp(whole.service_ns) > 0 and np.ptp(whole.duration_ns) > 0)
    all_, findings = (analyse(one, replicates=5) for one in (whole, whole.without_waiting()))
    assert max(one.residue for one in findings.nodes) < 1e-9
    shares = [one.own_covariance.value for one in findings.nodes]
    assert sum(shares) == pytest.approx(1, rel=1e-9, abs=1e-12 * sum(map(abs, shares)))
    assert findings.waiting == 0
    assert findings.mean_ns == pytest.approx(float(whole.service_ns.mean()))
    beneath = [one for one in all_.nodes[1:] if one.name != whole.waiting_name]
    close(
        [(one.name, one.mean_ns, one.sd_ns) for one in findings.nodes[1:]],
        [(one.name, one.mean_ns, one.sd_ns) for one in beneath],
    )


@some
@given(profiles(longest=2**30), st.integers(1, 3))
def test_within_types_equation_1_and_the_sum_hold_too(own: Own, types: int) -> None:
    n = len(next(iter(own.values())))
    labels = [1 + t % types for t in range(n)]
    texts = {label: f"STATEMENT {'abc'[label - 1]}" for label in (1, 2, 3)}
    own[""] = (np.array(own[""]) + np.arange(n) // types).tolist()  # so that something varies within each
    measured = made(own, labels=labels, texts=texts)
    assume(
        any(
            np.ptp(measured.duration_ns[types_of(measured).of == one])
            for one in range(len(types_of(measured)))
        )
    )
    findings = analyse(measured, within=True, replicates=5)
    assert max(one.residue for one in findings.nodes) < 1e-9
    shares = [one.own_covariance.value for one in findings.nodes]
    assert sum(shares) == pytest.approx(1, rel=1e-9, abs=1e-12 * sum(map(abs, shares)))
