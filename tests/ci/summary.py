"""The last lines of a test run: at most 20, most important first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.ci.machine import Pressure
from tests.ci.stages import Ending
from tests.ci.verdict import MOST_FLAKY, Failure, Results, Verdict

MOST_LINES = 20
_SLOWEST = 5
WIDTH = 220


@dataclass(frozen=True)
class Part:
    """Part of the test run that was requested: stages, and patterns of the tests in them."""

    stages: tuple[str, ...]
    only: tuple[str, ...] = ()

    def __str__(self) -> str:
        tests = f", only {' '.join(self.only)}" if self.only else ""
        return f"{' '.join(self.stages)}{tests}"


def lines(
    verdict: Verdict,
    stages: Mapping[str, Results],
    endings: Sequence[Ending],
    pressure: Pressure,
    part: Part | None = None,
) -> list[str]:
    """Return the summary as lines. That of a partial run is never called green, and its last line names the part."""
    counts, classes, skips, slowest = _totals(stages)
    shown = ("passed", "failed", "skipped", "xfailed", "xpassed")
    parts = [f"{counts[outcome]} {outcome}" for outcome in shown if counts[outcome]]
    minutes = sum(ending.seconds for ending in endings) / 60
    colour = "RED" if not verdict.is_green else "green" if part is None else "PARTIAL, nothing failed"
    head = [
        f"CI: {colour}. {minutes:.0f} min; {pressure}; {', '.join(parts)}",
        "by class: " + ", ".join(f"{number} {name}" for name, number in sorted(classes.items())),
        "stages: " + ", ".join(f"{ending.stage} {ending.seconds / 60:.1f} min" for ending in endings),
    ]
    tail = [
        f"skipped: {', '.join(f'{number} {reason}' for reason, number in skips.most_common(4)) or 'none'}",
        f"slowest: {', '.join(f'{_short(test)} {seconds:.0f} s' for seconds, test in slowest)}",
        "details: target/ci/summary.json and target/ci/STAGE.log",
    ]
    if part is not None:
        tail.append(f"PARTIAL RUN, no verdict on the whole: {part}")
    flaky = [f"FLAKY {_short(one.test)}: {one.error} [{one.pressure}; passed alone]" for one in verdict.flaky]
    if len(verdict.flaky) > MOST_FLAKY:
        flaky.insert(0, f"RED: {len(verdict.flaky)} flaky tests, {MOST_FLAKY} are allowed")
    red = [f"FAILED {reason}" for reason in verdict.broken]
    red += [f"FAILED {one.test}: {one.error}" for one in verdict.failures]
    shown_lines = _fitted([*red, *flaky], MOST_LINES - len(head) - len(tail))
    return [line[:WIDTH] for line in (*head, *shown_lines, *tail)]


def _fitted(entries: list[str], room: int) -> list[str]:
    if len(entries) <= room:
        return entries
    return [*entries[: room - 1], f"and {len(entries) - room + 1} more: target/ci/summary.json"]


def document(
    verdict: Verdict,
    stages: Mapping[str, Results],
    endings: Sequence[Ending],
    pressure: Pressure,
    part: Part | None = None,
) -> dict[str, Any]:
    """Return the same, whole, for `target/ci/summary.json`. Times in seconds, shares from 0 to 1."""
    counts, classes, skips, _ = _totals(stages)
    return {
        "green": verdict.is_green and part is None,
        "part": None if part is None else asdict(part),
        "steal_ratio": pressure.steal_ratio,
        "waited_ratio": pressure.waited_ratio,
        "counts": dict(counts),
        "classes": dict(classes),
        "stages": [vars(ending) for ending in endings],
        "broken": list(verdict.broken),
        "failures": [_failure(one) for one in verdict.failures],
        "flaky": [_failure(one) for one in verdict.flaky],
        "skips": dict(skips),
        "seconds": {test: round(time, 2) for tests in stages.values() for time, test in tests.seconds},
    }


def _totals(
    stages: Mapping[str, Results],
) -> tuple[Counter[str], Counter[str], Counter[str], list[tuple[float, str]]]:
    counts: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    skips: Counter[str] = Counter()
    seconds: list[tuple[float, str]] = []
    for tests in stages.values():
        counts += tests.counts
        classes += tests.classes
        skips += Counter(reason for _, reason in tests.skips)
        seconds += tests.seconds
    return counts, classes, skips, sorted(seconds, reverse=True)[:_SLOWEST]


def _failure(one: Failure) -> dict[str, Any]:
    return {"test": one.test, "error": one.error, **vars(one.pressure)}


def _short(test: str) -> str:
    return test.removeprefix("tests/")
