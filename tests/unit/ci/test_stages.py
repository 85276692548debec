"""A stage of the test run ends at its limit, and so does what it started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ci import stages
from tests.ci.stages import Stage, first_error, run

STUBBORN = "import signal, time; signal.signal(2, signal.SIG_IGN); print('up', flush=True); time.sleep(100)"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "RESULTS", tmp_path)


def test_an_exit_code_and_the_output_are_kept(tmp_path: Path) -> None:
    ending = run(Stage("short", ("bash", "-c", "echo seen; exit 3"), 60), 60)
    assert (ending.code, ending.was_cut) == (3, False)
    assert (tmp_path / "short.log").read_text() == "seen\n"


def test_a_stage_that_ignores_interrupts_is_killed_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "GRACE_S", 0.2)
    ending = run(Stage("stubborn", (sys.executable, "-c", STUBBORN), 1), 1)
    assert ending.was_cut
    assert ending.code != 0


def test_a_child_that_outlives_its_stage_does_not_hold_it() -> None:
    ending = run(Stage("parent", ("bash", "-c", "sleep 100 & exit 0"), 60), 60)
    assert (ending.code, ending.was_cut) == (0, False)


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (
            "   Compiling x\nerror[E0308]: mismatched types\nmake: *** [lint] Error 101\n",
            "error[E0308]: mismatched types",
        ),
        ("All good\nE501 Line too long (122 > 120)\nFound 1 error.\n", "E501 Line too long (122 > 120)"),
        (
            "python/tare/x.py:3: error: Missing return\nFound 1 error\n",
            "python/tare/x.py:3: error: Missing return",
        ),
        ("Would reformat: tests/x.py\nmake: *** [lint] Error 1\n", "Would reformat: tests/x.py"),
        ("only this\n", "only this"),
        ("", "no output"),
    ],
)
def test_a_failed_stage_names_its_first_error(output: str, error: str) -> None:
    assert first_error(output) == error
