"""Causes that make a test run red, and failures that are tried again first."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.ci.stages import Ending
from tests.ci.verdict import MOST_FLAKY, Failure, Line, Results, Verdict, judge, read

TEST = "tests/dbms/test_x.py::test_y"


def failed(test: str = TEST, **facts: Any) -> Line:
    usual = {
        "class": "server",
        "noise": True,
        "loss": False,
        "clock": False,
        "error": "AssertionError: 1 == 2",
    }
    return {"id": test, "when": "call", "outcome": "failed", **usual, **facts}


def passed(test: str = TEST) -> Line:
    return {"id": test, "when": "call", "outcome": "passed", "class": "server"}


def judged(first: Line, *again: Line) -> Verdict:
    return judge({"servers": read([first])}, [read([line]) for line in again], [Ending("servers", 9, 1)])


def test_a_failure_that_passes_twice_alone_is_flaky_and_the_run_is_green() -> None:
    verdict = judged(failed(steal_ratio=0.25), passed(), passed())
    assert verdict.is_green
    assert [one.test for one in verdict.flaky] == [TEST]
    assert verdict.flaky[0].pressure.steal_ratio == 0.25


@pytest.mark.parametrize("again", [(), (passed(),), (passed(), failed()), (failed(), passed())])
def test_a_failure_that_does_not_pass_twice_is_red(again: tuple[Line, ...]) -> None:
    verdict = judged(failed(), *again)
    assert not verdict.is_green
    assert verdict.failures[0].error == "AssertionError: 1 == 2"


@pytest.mark.parametrize(
    "facts",
    [
        {"class": "exact"},
        {"class": "paired"},
        {"class": "alone"},
        {"loss": True},
        {"class": "alone", "clock": True, "loss": True},
        {"noise": False},
        {"clock": True, "noise": False},
    ],
)
def test_what_is_never_tried_again_stays_red_even_if_it_passes_later(facts: dict[str, Any]) -> None:
    assert not judged(failed(**facts), passed(), passed()).is_green


def test_a_test_of_known_unsteadiness_is_tried_again_whatever_its_class() -> None:
    assert judged(failed(**{"class": "alone", "clock": True}), passed(), passed()).is_green


def test_a_skip_is_no_pass() -> None:
    skipped = {"id": TEST, "when": "call", "outcome": "skipped", "reason": "absent"}
    assert not judged(failed(), passed(), skipped).is_green


def test_more_flaky_tests_than_are_allowed_make_the_run_red() -> None:
    names = [f"{TEST}{number}" for number in range(MOST_FLAKY + 1)]
    for count, is_green in ((MOST_FLAKY, True), (MOST_FLAKY + 1, False)):
        again = [read(map(passed, names[:count]))] * 2
        verdict = judge({"servers": read(map(failed, names[:count]))}, again, [])
        assert verdict.is_green is is_green


def test_a_stage_that_fails_without_a_failed_test_is_red() -> None:
    ending = Ending("lint", 60, 2, error="error: unused variable: `x`")
    assert judge({"lint": Results()}, [], [ending]).broken == (
        "lint failed with exit code 2: error: unused variable: `x`",
    )


def test_a_stage_that_was_cut_names_the_tests_that_ran() -> None:
    tests = read([{"id": TEST, "when": "start"}])
    (reason,) = judge({"servers": tests}, [], [Ending("servers", 1500, 2, was_cut=True)]).broken
    assert reason == f"servers was ended at its limit, after 1500 s during {TEST}"


def test_a_test_whose_fixture_fails_afterwards_has_failed_once() -> None:
    tests = read([passed(), failed(when="teardown")])
    assert tests.counts == Counter(failed=1)
    assert [one.test for one in tests.failures] == [TEST]


def test_a_failure_that_is_partly_a_defect_is_not_tried_again() -> None:
    tests = read([failed(), failed(when="teardown", noise=False)])
    assert tests.failures == (Failure(TEST, "AssertionError: 1 == 2", may_try_again=False),)
