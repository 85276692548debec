"""Verdict on a test run, from the journal's lines and the stages' endings. Pure: it reads and runs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.ci.machine import Pressure
from tests.ci.stages import Ending

MOST_FLAKY = 3
"""More flaky tests than this make the run red."""

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Failure:
    """A test that failed, with the first line of its error."""

    test: str
    error: str
    may_try_again: bool = False
    pressure: Pressure = field(default_factory=Pressure)


@dataclass(frozen=True)
class Results:
    """Results of one stage's tests, from its journal."""

    counts: Counter[str] = field(default_factory=Counter)  # by outcome
    classes: Counter[str] = field(default_factory=Counter)  # tests that ran, by class
    failures: tuple[Failure, ...] = ()
    skips: tuple[tuple[str, str], ...] = ()  # test and reason
    seconds: tuple[tuple[float, str], ...] = ()  # time of each test, its fixtures included
    unfinished: tuple[str, ...] = ()  # tests that began and did not end


def read(lines: Iterable[Line]) -> Results:
    """Sum up a journal. A test counts once, as failed if any part of it failed."""
    outcomes: dict[str, str] = {}
    classes: dict[str, str] = {}
    failed: dict[str, list[Line]] = {}
    skips: dict[str, str] = {}
    seconds: Counter[str] = Counter()
    running: dict[str, None] = {}
    for line in lines:
        test, when = line["id"], line["when"]
        if when == "start":
            running[test] = None
            continue
        seconds[test] += line.get("seconds", 0.0)
        if when == "teardown":
            running.pop(test, None)
        if "class" in line:
            classes[test] = line["class"]
        outcome = line["outcome"]
        if outcome == "failed":
            failed.setdefault(test, []).append(line)
        elif outcome == "skipped":
            skips[test] = line["reason"]
        if when == "call" or outcome in ("failed", "skipped", "xfailed"):
            outcomes[test] = "failed" if test in failed else outcome
    return Results(
        Counter(outcomes.values()),
        Counter(classes.values()),
        tuple(_failure(test, parts) for test, parts in failed.items()),
        tuple(skips.items()),
        tuple(sorted(((time, test) for test, time in seconds.items()), reverse=True)),
        tuple(running),
    )


def _failure(test: str, parts: Sequence[Line]) -> Failure:
    first = parts[0]
    return Failure(
        test,
        first["error"],
        all(_may_try_again(part) for part in parts),
        Pressure(first.get("steal_ratio", 0.0), first.get("waited_ratio", 0.0)),
    )


def _may_try_again(line: Line) -> bool:
    if line.get("loss") or not line.get("noise"):
        return False
    return line.get("class") == "server" or bool(line.get("clock"))


@dataclass(frozen=True)
class Verdict:
    """Whether the run is green, and why not."""

    failures: tuple[Failure, ...]
    flaky: tuple[Failure, ...]
    broken: tuple[str, ...]  # stages that failed without naming a test

    @property
    def is_green(self) -> bool:
        return not self.failures and not self.broken and len(self.flaky) <= MOST_FLAKY


def judge(stages: Mapping[str, Results], again: Sequence[Results], endings: Sequence[Ending]) -> Verdict:
    """Judge a run: `stages` by name, then each repetition of the failures that may be noise, in order.

    A failure that passed in every repetition, and in at least two, is flaky. Any other failure stays.
    """
    failures: list[Failure] = []
    flaky: list[Failure] = []
    for failure in (failure for tests in stages.values() for failure in tests.failures):
        passes = sum(failure.test in _passed(tests) for tests in again)
        is_flaky = failure.may_try_again and len(again) >= 2 and passes == len(again)
        (flaky if is_flaky else failures).append(failure)
    broken = [_broken(ending, stages.get(ending.stage, Results())) for ending in endings]
    return Verdict(tuple(failures), tuple(flaky), tuple(reason for reason in broken if reason))


def _passed(tests: Results) -> set[str]:
    unsound = {failure.test for failure in tests.failures} | {test for test, _ in tests.skips}
    return {test for _, test in tests.seconds} - unsound - set(tests.unfinished)


def _broken(ending: Ending, tests: Results) -> str | None:
    if ending.was_cut:
        running = f" during {', '.join(tests.unfinished[:3])}" if tests.unfinished else ""
        return f"{ending.stage} was ended at its limit, after {ending.seconds:.0f} s{running}"
    if ending.code != 0 and not tests.failures:
        return f"{ending.stage} failed with exit code {ending.code}: {ending.error}"
    return None
