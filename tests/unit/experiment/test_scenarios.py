"""Scenarios walk as they say, also when a run goes on in mid-walk, and packages bring others."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.experiment.scenario.base import Range, Scenario, Visit
from tare.experiment.scenario.registry import find, scenarios

EXAMPLE = Path(__file__).parents[3] / "examples" / "scenario_bisect"
FIVE = Range(maximum=50, minimum=10, step=10)


def walk(scenario: Scenario, cardinalities: Range, plan_at: Callable[[int], str]) -> list[Visit]:
    """Visits of a walk, as an executor makes them."""
    visits: list[Visit] = []
    while (cardinality := scenario.next_cardinality(cardinalities, visits)) is not None:
        plan = plan_at(cardinality)
        visits.append(Visit(cardinality, plan, scenario.is_timed(plan, visits)))
    return visits


def timed(visits: list[Visit]) -> list[int]:
    return [visit.cardinality for visit in visits if visit.timed]


def test_onepass_looks_at_every_cardinality_and_times_where_the_plan_is_new() -> None:
    visits = walk(find("onepass"), FIVE, lambda n: "hash" if n > 25 else "loop")
    assert [visit.cardinality for visit in visits] == [50, 40, 30, 20, 10]
    assert timed(visits) == [50, 20]


def test_onepass_times_a_plan_anew_when_it_comes_back() -> None:
    assert timed(walk(find("onepass"), FIVE, lambda n: "loop" if n == 30 else "hash")) == [50, 30, 20]


def test_exhaustive_times_every_cardinality() -> None:
    assert timed(walk(find("exhaustive"), FIVE, lambda n: "hash")) == [50, 40, 30, 20, 10]


def test_a_table_with_one_cardinality_is_visited_once() -> None:
    assert timed(walk(find("onepass"), Range(100, 100, 30), lambda n: "hash")) == [100]


def test_an_unknown_scenario_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="bisekt") as raised:
        find("bisekt")
    assert "exhaustive, onepass" in raised.value.next_step


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example package and a broken one, as an installer leaves them: modules and their metadata."""
    for module in EXAMPLE.glob("*.py"):
        shutil.copy(module, tmp_path)
    metadata = tmp_path / "tare_scenario_bisect-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tare-scenario-bisect\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points() + "broken = no_such_module:Nothing\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "tare_scenario_bisect", raising=False)
    return tmp_path


def entry_points() -> str:
    import tomllib

    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )


def test_a_package_brings_a_scenario_and_a_broken_one_does_no_harm(installed: Path) -> None:
    assert find("bisect").name == "bisect"
    assert {"onepass", "exhaustive", "bisect"} == set(scenarios())
    with pytest.raises(UsageError, match="cannot be loaded"):
        find("broken")


def test_bisect_finds_where_the_plan_changes_in_few_visits(installed: Path) -> None:
    thousand = Range(maximum=1_000, minimum=1, step=1)
    visits = walk(find("bisect"), thousand, lambda n: "hash" if n > 421 else "loop")
    assert {421, 422} <= set(timed(visits))
    assert len(visits) <= 13
    assert timed(visits) == [visit.cardinality for visit in visits if visit.timed]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 9), st.lists(st.integers(1, 60), max_size=4))
@pytest.mark.parametrize("name", ["onepass", "exhaustive", "bisect"])
def test_no_cardinality_is_visited_twice_and_each_is_in_range(
    name: str, minimum: int, span: int, step: int, changes: list[int]
) -> None:
    scenario = find(name) if name != "bisect" else _bisect()
    cardinalities = Range(maximum=minimum + span, minimum=minimum, step=step)
    visited = [
        visit.cardinality
        for visit in walk(scenario, cardinalities, lambda n: str(sum(n > change for change in changes)))
    ]
    assert len(set(visited)) == len(visited)
    assert set(visited) <= set(cardinalities.cardinalities)
    assert visited[0] == cardinalities.maximum


def _bisect() -> Scenario:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("bisect_example", EXAMPLE / "tare_scenario_bisect.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    scenario: Scenario = module.Bisect()
    return scenario
