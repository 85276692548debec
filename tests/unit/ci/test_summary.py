"""The end of the log: at most 20 lines, and every cause in them."""

from __future__ import annotations

from typing import Any

from tests.ci.machine import Pressure
from tests.ci.stages import Ending
from tests.ci.summary import MOST_LINES, document, lines
from tests.ci.verdict import Failure, Results, Verdict, judge, read


def summed_up(verdict: Verdict, stages: dict[str, Results] | None = None) -> list[str]:
    return lines(
        verdict, stages or {}, [Ending("exact", 90, 0), Ending("servers", 600, 1)], Pressure(0.03, 0.4)
    )


def test_the_first_line_has_colour_time_steal_and_counts() -> None:
    results: list[dict[str, Any]] = [
        {"id": "a", "when": "call", "outcome": "passed", "class": "exact"},
        {"id": "b", "when": "setup", "outcome": "skipped", "reason": "no hash index", "class": "server"},
    ]
    first, classes, *_, skipped, _, _ = summed_up(Verdict((), (), ()), {"exact": read(results)})
    assert first == "CI: green. 12 min; steal 3%, waiting for a CPU 40%; 1 passed, 1 skipped"
    assert classes == "by class: 1 exact, 1 server"
    assert skipped == "skipped: 1 no hash index"


def test_a_failure_is_named_with_its_test_and_error() -> None:
    shown = summed_up(Verdict((Failure("tests/x.py::test_y", "KeyError: 'z'"),), (), ()))
    assert shown[0].startswith("CI: RED.")
    assert "FAILED tests/x.py::test_y: KeyError: 'z'" in shown


def test_flaky_tests_come_first_in_a_green_run() -> None:
    flaky = Failure("tests/x.py::test_y", "assert 1 == 2", True, Pressure(0.2, 0.5))
    assert summed_up(Verdict((), (flaky,), ()))[3] == (
        "FLAKY x.py::test_y: assert 1 == 2 [steal 20%, waiting for a CPU 50%; passed alone]"
    )


def test_many_failures_are_cut_with_their_number() -> None:
    failures = tuple(Failure(f"tests/x.py::test_{number}", "no") for number in range(50))
    shown = summed_up(Verdict(failures, failures[:4], ("lint failed",)))
    assert len(shown) == MOST_LINES
    assert shown[3] == "FAILED lint failed"
    assert "and 43 more: target/ci/summary.json" in shown


def test_the_document_is_whole() -> None:
    failures = [
        {"id": f"t{n}", "when": "call", "outcome": "failed", "error": "no", "seconds": 1} for n in range(50)
    ]
    stages = {"exact": read(failures)}
    whole = document(judge(stages, [], []), stages, [Ending("exact", 1, 1)], Pressure())
    assert whole["green"] is False
    assert [one["test"] for one in whole["failures"]] == [f"t{n}" for n in range(50)]
    assert whole["seconds"]["t7"] == 1
