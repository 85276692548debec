"""Classes of tests: the lists name files that are there, and exceptions only become fewer."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tests.ci.classes import ALONE, EXACT, LOSS, PAIRED, UNSTEADY, class_of, pytest_ignore_collect
from tests.ci.skips import EXPECTED
from tests.ci.stages import ROOT


@pytest.mark.parametrize("place", sorted({*EXACT, *PAIRED, *ALONE, *LOSS, *UNSTEADY, *EXPECTED}))
def test_a_listed_place_exists(place: str) -> None:
    assert (ROOT / place).exists()


def test_tests_whose_outcome_depends_on_scheduling_only_become_fewer() -> None:
    assert len(UNSTEADY) <= 10


def test_a_test_of_arithmetic_is_never_unsteady() -> None:
    assert not [place for place in UNSTEADY if class_of(PurePosixPath(place)) == "exact"]


def test_a_file_has_the_class_of_its_nearest_place() -> None:
    assert class_of(PurePosixPath("tests/unit/report/kit/test_blocks.py")) == "exact"
    assert class_of(PurePosixPath("tests/profile/test_attach.py")) == "alone"
    assert class_of(PurePosixPath("tests/profile/test_survivors.py")) == "paired"
    assert class_of(PurePosixPath("tests/dbms/test_plans.py")) == "server"


def test_a_test_belongs_to_one_class() -> None:
    places = [*EXACT, *PAIRED, *ALONE]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("selected", "is_ignored"), [("exact", None), ("server", True), ("", None), ("exact or server", None)]
)
def test_a_stage_loads_no_file_of_another_class(
    selected: str, is_ignored: bool | None, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "markexpr", selected)
    assert pytest_ignore_collect(Path(__file__), pytestconfig) is is_ignored
    assert pytest_ignore_collect(Path(__file__).with_name("conftest.py"), pytestconfig) is None
    assert pytest_ignore_collect(Path(__file__).parent, pytestconfig) is None
