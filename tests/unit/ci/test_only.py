"""A partial run has the tests of the paths that were named, and no others; it is never a pass of the whole."""

from __future__ import annotations

import pytest

from tests.ci.__main__ import STAGES, main
from tests.ci.machine import Pressure
from tests.ci.only import NothingSelected, narrowed
from tests.ci.stages import EXACT, LINT, RUST, SERVERS, SMALL, Ending
from tests.ci.summary import MOST_LINES, Part, document, lines
from tests.ci.verdict import Failure, Verdict

STATISTICS = "tests/unit/protocol/test_statistics.py"
GREEN = Verdict((), (), ())


def selected(patterns: list[str]) -> dict[str, tuple[str, ...]]:
    """Tests by stage: the arguments behind those of the whole stage."""
    whole = {stage.name: len(stage.command) for stage in STAGES}
    return {stage.name: stage.command[whole[stage.name] :] for stage in narrowed(STAGES, patterns)}


def test_a_file_is_run_in_the_stage_of_its_class_and_no_other_stage_is_run() -> None:
    assert selected([STATISTICS]) == {"exact": (STATISTICS,)}


def test_one_test_of_a_file_is_selected_by_its_name() -> None:
    assert selected([f"{STATISTICS}::test_x"]) == {"exact": (f"{STATISTICS}::test_x",)}


def test_a_folder_and_a_glob_select_each_of_their_files_once() -> None:
    found = selected(["tests/unit/ci", "tests/unit/ci/test_*.py"])
    assert list(found) == ["exact"]
    assert "tests/unit/ci/test_only.py" in found["exact"]
    assert len(found["exact"]) == len(set(found["exact"]))


def test_a_folder_of_several_classes_is_run_in_their_stages() -> None:
    assert {"servers", "paired", "alone"} <= set(selected(["tests/crash"]))


def test_a_crate_is_tested_by_itself() -> None:
    (stage,) = narrowed([RUST], ["crates/tare-rings"])
    assert stage.name == "rust"
    assert "--package tare-rings" in stage.command[-1]
    assert "--workspace" not in stage.command[-1]


@pytest.mark.parametrize(
    "pattern", ["tests/no_such.py", "/tests", "tests/conftest.py", "benchmarks/aa.py", "crates"]
)
def test_a_pattern_that_selects_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(NothingSelected, match=pattern):
        narrowed(STAGES, [STATISTICS, pattern])


def test_a_test_of_another_stage_is_refused() -> None:
    with pytest.raises(NothingSelected):
        narrowed([SERVERS, LINT, SMALL], [STATISTICS])


@pytest.mark.parametrize("words", [["no-such-stage"], ["exact", "--only", "tests/no_such.py"]])
def test_a_wrong_request_ends_with_2_before_any_stage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "──" not in capsys.readouterr().out


PART = Part((EXACT.name,), (STATISTICS,))


def test_a_partial_run_is_not_called_green_and_its_last_line_names_the_part() -> None:
    shown = lines(GREEN, {}, [Ending("exact", 1, 0)], Pressure(), PART)
    assert "green" not in "\n".join(shown)
    assert shown[0].startswith("CI: PARTIAL, nothing failed.")
    assert shown[-1] == f"PARTIAL RUN, no verdict on the whole: exact, only {STATISTICS}"
    assert document(GREEN, {}, [], Pressure(), PART)["green"] is False


def test_a_partial_run_that_failed_is_red_and_keeps_to_the_number_of_lines() -> None:
    failures = tuple(Failure(f"tests/x.py::test_{number}", "no") for number in range(50))
    shown = lines(Verdict(failures, (), ()), {}, [Ending("exact", 1, 1)], Pressure(), PART)
    assert shown[0].startswith("CI: RED.")
    assert len(shown) == MOST_LINES
