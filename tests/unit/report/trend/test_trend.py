"""The report of a trend answers first: which query became slower, where, and by how much."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tare.lab.measurements import Point, Series
from tare.measure.environment import MachineFacts
from tare.protocol.changepoints import FEWEST_POINTS, MOST_POINTS
from tare.report.kit import markdown
from tare.report.kit.blocks import Tone, Verdict
from tare.report.trend.build import Gate, build
from tare.report.trend.charts import charts
from tare.report.trend.document import TrendReport
from tare.report.trend.story import story

FACTS = MachineFacts("Xeon", 8, 8, 32 << 30, "KVM", "6.1", "Debian 12", "3.11", "0.1.0")


def series(name: str, count: int, steps: Mapping[int, float], *, hardware: str = "1a2b3c4d") -> Series:
    """Points of some 100 ms, whose level is multiplied by each factor from its place on; so does the kernel change."""
    draw = random.Random(name)
    points = []
    for place in range(count):
        level = 100.0
        for start, factor in steps.items():
            level *= factor if place >= start else 1
        kernel = f"6.{sum(place >= start for start in steps)}"
        samples = [level * (1 + draw.gauss(0, 0.01)) for _ in range(10)]
        points.append(
            Point(
                number=place + 1,
                started_at=f"2026-11-01T10:{place % 60:02d}:00+00:00",
                code=f"{place:012x}",
                version="18.4",
                machine=replace(FACTS, kernel=kernel),
                samples={"resources.cpu_ms": samples},
            )
        )
    return Series(name, "postgresql", "warm", hardware, points)


def report(*found: Series, gate: Gate | None = None) -> TrendReport:
    return build("lab.db", found, "resources.cpu_ms", gate)


def test_the_largest_slowdown_is_the_answer_and_what_changed_besides_is_named() -> None:
    made = report(series("q1", 30, {20: 1.12}), series("q2", 30, {10: 0.5}), series("q3", 30, {}))
    assert made.headline.startswith("Query q1 became 1")
    assert "slower at commit 000000000014 on PostgreSQL, Xeon, eight CPUs" in made.headline
    assert made.headline.endswith("; one other series changed, too.")
    (change,) = made.series[0].changes
    assert (change.place, change.code, change.code_before) == (20, f"{20:012x}", f"{19:012x}")
    assert change.low is not None
    assert change.high is not None
    assert change.low < 1.12 < change.high
    assert change.besides == ["kernel 6.0 to 6.1"]
    shown = markdown.render(story(made))
    assert "kernel 6.0 to 6.1" in shown
    assert "+12" in shown
    assert len(charts(made)) == 3


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], "No baseline yet: nothing is recorded."),
        (
            [series("q1", 4, {})],
            f"No baseline yet: four measurements of a series at most, and {FEWEST_POINTS} are needed.",
        ),
        ([series("q1", 30, {})], f"No change in one series of {FEWEST_POINTS} or more measurements."),
    ],
)  # fmt: skip
def test_no_baseline_and_no_change_are_said(found: list[Series], text: str) -> None:
    assert report(*found).headline == text


@pytest.mark.parametrize(
    ("steps", "last", "failed"),
    [
        ({25: 1.12}, 10, ["q1"]),
        ({25: 1.04}, 10, []),
        ({25: 0.8}, 10, []),
        ({10: 1.12}, 10, []),
        ({10: 1.12}, 25, ["q1"]),
        ({8: 1.12, 22: 0.9}, 25, []),
    ],
    ids=["slower", "within the margin", "faster", "long ago", "not so long ago", "mended since"],
)
def test_a_gate_fails_for_a_recent_slowdown(steps: dict[int, float], last: int, failed: list[str]) -> None:
    made = report(series("q1", 30, steps), gate=Gate(0.05, last))
    assert made.gate is not None
    assert made.gate.failed == failed
    verdict = story(made).blocks[0]
    assert isinstance(verdict, Verdict)
    assert (verdict.tone is Tone.BAD) is bool(failed)


def test_machines_are_not_pooled() -> None:
    made = report(series("q1", 15, {}), series("q1", 15, {0: 2.0}, hardware="ffffffff"))
    assert [len(one.points) for one in made.series] == [15, 15]
    assert not any(one.changes for one in made.series)


def test_older_points_than_can_be_searched_are_counted() -> None:
    (one,) = report(series("q1", MOST_POINTS + 5, {})).series
    assert (len(one.points), one.left_out) == (MOST_POINTS, 5)


def test_a_measure_that_a_series_lacks_leaves_it_out() -> None:
    made = build("lab.db", [series("q1", 15, {})], "instructions")
    assert made.series == []
