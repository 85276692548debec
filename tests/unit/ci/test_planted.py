"""Planted defects fit the tree as it is: what they edit and the tests that ought to fail are there."""

from __future__ import annotations

import pytest
from benchmarks.ci_planted import DEFECTS, Defect, Edit, Trial

from tests.ci.__main__ import STAGES
from tests.ci.only import narrowed
from tests.ci.stages import ROOT

ERROR = "AssertionError: 1 == 2"


@pytest.fixture(params=DEFECTS, ids=[defect.name for defect in DEFECTS])
def defect(request: pytest.FixtureRequest) -> Defect:
    found: Defect = request.param
    return found


def test_there_are_twelve_of_different_names() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) == 12


def test_each_edits_a_text_that_its_file_contains_once(defect: Defect) -> None:
    assert (defect.edit is None) == bool(defect.missing)
    if defect.edit is not None:
        assert (ROOT / defect.edit.path).read_text().count(defect.edit.old) == 1
        assert defect.edit.new != defect.edit.old


def test_each_is_judged_by_tests_of_its_own_stage(defect: Defect) -> None:
    stages = [stage for stage in STAGES if stage.name == defect.stage]
    assert [stage.name for stage in narrowed(stages, [defect.only])] == [defect.stage]


def test_the_test_that_ought_to_fail_is_written_in_its_file(defect: Defect) -> None:
    file, _, name = defect.test.partition("::")
    if defect.stage != "rust" and name:
        assert f"def {name}" in (ROOT / file).read_text()


def test_an_edit_that_does_not_fit_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "x.py").write_text("a = 1\na = 1\n")
    for old in ("a = 1", "b"):
        with pytest.raises(SystemExit, match="the plant no longer fits"):
            Edit("x.py", old, "c").apply(tmp_path)


def outcome(*last: str, code: int | None = 1, error: str = ERROR) -> Trial:
    return Trial(code, last, {"tests/x.py::test_y": error}, 1.0)


DEFECT = Defect("a defect", "exact", "tests/x.py", "tests/x.py::test_y")
RED = "CI: RED. 0 min"


def test_a_trial_names_the_test_with_its_error() -> None:
    assert outcome(RED, f"FAILED tests/x.py::test_y: {ERROR}").names(DEFECT)
    assert not outcome(RED, "FAILED tests/x.py::test_y").names(DEFECT)
    assert not outcome(RED, "FAILED tests/x.py::test_z: {ERROR}").names(DEFECT)
    assert not outcome(RED, "FAILED tests/x.py::test_y: no message", error="no message").names(DEFECT)


def test_a_trial_is_red_by_its_exit_code_and_its_summary() -> None:
    assert outcome(RED).is_red
    assert not outcome(RED, code=0).is_red
    assert not outcome(RED, code=None).is_red
    assert not outcome("Traceback (most recent call last):").is_red
