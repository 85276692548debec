"""Runs in groups: equal settings go together, and a run is one sample however many transactions it has."""

from __future__ import annotations

from dataclasses import replace

from tare.protocol.oltp.groups import GroupFigure, compare_groups, differences, grouped, objections
from tare.workload.oltp.run import OltpRun
from tests.unit.report.oltp import sample


def run(seed: int, version: str = "18.1", slower: float = 1.0) -> OltpRun:
    found = sample.run(uuid=f"{seed:032x}", seed=seed, slower=slower, stall=None, rates=(200.0,), seconds=12)
    return replace(found, server=replace(found.server, version=version))


def figure(found: list[GroupFigure], name: str, times: str = "response") -> GroupFigure:
    (one,) = [one for one in found if (one.type, one.times, one.figure) == ("all", times, name)]
    return one


def test_runs_of_equal_settings_are_a_group_whatever_order_they_are_named_in() -> None:
    runs = [(1, run(1)), (2, run(2, "17.4")), (3, run(3)), (4, run(4, "17.4"))]
    groups = grouped(runs)
    assert [(group.label, [number for number, _ in group.runs]) for group in groups] == [
        ("A", [1, 3]),
        ("B", [2, 4]),
    ]
    assert differences(groups) == {"version": ["18.1", "17.4"]}
    assert objections(groups) == []


def test_a_setting_of_the_server_makes_a_group_of_its_own() -> None:
    other = run(2)
    other = replace(other, server=replace(other.server, settings={**other.server.settings, "fsync": "off"}))
    groups = grouped([(1, run(1)), (2, other)])
    assert differences(groups) == {"setting fsync": ["none", "off"]}


def test_the_ratio_is_of_the_runs_and_its_interval_too() -> None:
    runs = [(n, run(n, "17.4", slower=1.25)) for n in range(1, 5)] + [(n, run(n)) for n in range(5, 9)]
    found = compare_groups(grouped(runs))
    mean = figure(found, "mean")
    assert mean.established
    assert mean.ratio is not None
    assert mean.ratio.low is not None
    assert mean.ratio.high is not None
    assert mean.ratio.low < 1.25 < mean.ratio.high
    assert [len(values) for values in mean.values] == [4, 4]
    rate = figure(found, "rate", "")
    assert rate.ratio is not None
    assert 0.99 < rate.ratio.value < 1.01


def test_a_group_of_one_run_has_no_ratio_and_says_why() -> None:
    found = compare_groups(grouped([(1, run(1)), (2, run(2)), (3, run(3, "17.4"))]))
    assert {one.ratio for one in found} == {None}
    assert {one.why for one in found} == {"B has one run, which shows no spread over runs"}


def test_three_groups_are_each_compared_with_the_first() -> None:
    runs = [(n, run(n, version)) for n, version in enumerate(["16", "17", "18"] * 2)]
    found = compare_groups(grouped(runs))
    assert {one.groups for one in found} == {("A", "B"), ("A", "C")}


def test_what_makes_groups_unlike_beyond_the_server_is_an_objection() -> None:
    other = run(2)
    other = replace(other, asked=replace(other.asked, connections=99, protocol="simple"))
    groups = grouped([(1, run(1)), (2, other)])
    assert "connections: 16 in A, 99 in B" in objections(groups)
    assert "protocol of statements: named in A, simple in B" in objections(groups)
