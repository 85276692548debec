"""Report of a speed-up: planted wall times give known ratios, verdicts and words."""

from __future__ import annotations

import pytest

from tare.cluster.speedup import Arm, Execution, SpeedupRecord
from tare.report.charts.chart import NoChart
from tare.report.cluster.charts import charts
from tare.report.cluster.document import Gain, SpeedupReport, build_report
from tare.report.cluster.story import headline, story
from tare.report.kit import markdown, page

ONE, FOUR, SLOW = Arm(shards=1), Arm(shards=4), Arm(shards=4, rate_bits=10**7)
TIMES_MS = {
    "q1": {ONE: (100, 102, 98), FOUR: (110, 113, 109), SLOW: (700, 690, 710)},
    "q6": {ONE: (100, 104, 96), FOUR: (50, 52, 48), SLOW: (100, 80, 120)},
}


def record(**more: object) -> SpeedupRecord:
    executions = [
        Execution(
            arm=arm,
            query=query,
            block=block,
            wall_ns=wall_ms * 10**6,
            rows=4,
            throttled_ns={"c": wall_ms * 10**5, "s1": wall_ms * 5 * 10**5},
        )
        for query, arms in TIMES_MS.items()
        for arm, walls in arms.items()
        for block, wall_ms in enumerate(walls)
    ]
    values = {
        "engine": "postgresql",
        "versions": ("15.18", "18.4"),
        "scale": 0.1,
        "cpus": 0.3,
        "memory_bytes": None,
        "online_cpus": 2,
        "started_at": "2026-11-29T12:00:00+00:00",
        "arms": (ONE, FOUR, SLOW),
        "executions": tuple(executions),
    }
    return SpeedupRecord.model_validate(values | more)


def built(**more: object) -> SpeedupReport:
    return build_report(record(**more), "0.1.0", "2026-11-29")


def test_the_speed_up_is_paired_by_block() -> None:
    q6 = built().queries[1]
    first, four, slow = q6.arms
    assert first.speedup is None
    assert four.speedup is not None
    assert four.speedup.value == pytest.approx(2.0)
    assert four.speedup.low == pytest.approx(four.speedup.high)
    assert (four.ideal, four.gain, four.median_ms) == (4.0, Gain.FASTER, 50.0)
    assert slow.gain is Gain.NOT_TOLD


def test_a_larger_cluster_may_be_slower() -> None:
    q1 = built().queries[0]
    assert [one.gain for one in q1.arms] == [Gain.NOT_TOLD, Gain.SLOWER, Gain.SLOWER]


def test_throttling_is_a_share_of_the_wall_time() -> None:
    assert built().queries[0].arms[0].throttled == pytest.approx({"c": 0.1, "s1": 0.5})


def test_the_answer_is_about_the_largest_cluster_with_the_fastest_links() -> None:
    said = headline(built())
    assert said.startswith(
        "With 4 shards instead of 1 shard, faster: q6 2.00 times [2.00, 2.00]; slower: q1 0.90 times"
    )


def test_a_query_that_failed_is_named_and_left_out() -> None:
    report = built(failures={"q1": "cancelled after 5 s"})
    assert [query.query for query in report.queries] == ["q6"]
    assert "cancelled after 5 s" in markdown.render(story(report))


def test_the_report_is_written_in_each_form() -> None:
    report = built(is_stopped=True)
    text = markdown.render(story(report))
    assert "three blocks had been completed" in text
    assert "10 Mbit/s" in text
    assert "<svg" in page.render(story(report)) or "vega" in page.render(story(report))
    (chart,) = charts(report)
    assert not isinstance(chart, NoChart)
