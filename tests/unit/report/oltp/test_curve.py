"""The report of a curve: steps over capacity are never results, nothing is averaged, and the knee has an interval."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from tare.cli.curve_report import as_csv
from tare.protocol.oltp.capacity import Capacity
from tare.protocol.oltp.limit import Limit
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.document import as_json
from tare.report.kit import markdown, terminal
from tare.report.oltp.curve.build import Built
from tare.report.oltp.curve.document import CurveReport
from tare.report.oltp.curve.points import figure_of, rates
from tare.report.oltp.curve.story import story
from tests.unit.report.oltp import curve_sample

PUBLISHED = Path(__file__).parents[4] / "schemas" / "oltp-curve-v1.json"
P99 = Limit("p99", 40.0)


@pytest.fixture(scope="module")
def built() -> Built:
    return curve_sample.curve(limit=P99)


@pytest.fixture(scope="module")
def two() -> Built:
    return curve_sample.curve(2)


@pytest.mark.parametrize("which", ["built", "two"])
def test_every_report_keeps_to_the_schema_and_reads_back(which: str, request: pytest.FixtureRequest) -> None:
    report: CurveReport = request.getfixturevalue(which).report
    written = as_json(report)
    jsonschema.validate(
        json.loads(written), json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator
    )
    assert CurveReport.model_validate_json(written) == report


def test_the_answer_is_the_knee_with_its_interval_its_steps_and_minutes(built: Built) -> None:
    [knee] = built.report.knees
    assert (knee.rate, knee.above, knee.steps) == (200.0, 300.0, 8)
    assert built.report.headline[0].startswith(
        "The highest rate with a p99 of 40 ms is 200/s [200/s, 300/s] (eight steps,"
    )


def test_without_a_limit_the_answer_is_the_highest_rate_that_all_of_its_steps_sustained(two: Built) -> None:
    assert two.report.headline[:2] == [
        "PostgreSQL 18.1: rates up to 300/s were sustained; 400/s was not, in one step or more.",
        "MariaDB 11.8.1: rates up to 300/s were sustained; 400/s was not, in one step or more.",
    ]


def test_a_step_over_capacity_is_no_point_of_a_line(built: Built) -> None:
    chart = built.charts[0]
    assert isinstance(chart, Chart)
    assert {row["rate"] for row in chart.data["curve-steps"] if not row["result"]} == {400.0}
    assert all(row["ms"] is None for row in chart.data["curve-lines"] if row["rate"] == 400.0)
    assert all(row["ms"] for row in chart.data["curve-lines"] if row["rate"] < 400.0)


def test_a_line_passes_a_step_and_never_a_mean_over_steps(built: Built) -> None:
    for rate in rates(built.report):
        middle = rate.middle("p99")
        assert middle is None or middle in [figure_of(step, "p99") for step in rate.steps]


def test_whiskers_span_the_repeats(built: Built) -> None:
    [first, *_] = rates(built.report)
    values = [figure_of(step, "p99") for step in first.steps]
    assert first.whisker("p99") == (min(filter(None, values)), max(filter(None, values)))


def test_every_step_says_why_it_is_or_is_no_result(built: Built) -> None:
    for step in built.report.steps:
        assert step.is_result is (step.requested < 400)
    over = [step for step in built.report.steps if step.capacity is Capacity.OVER]
    assert [step.why for step in over] == ["500 transactions waited to be started"] * 2


def test_saturation_counts_threads_of_server_and_driver_on_one_axis(built: Built) -> None:
    chart = built.charts[2]
    assert isinstance(chart, Chart)
    assert {"server on CPU", "driver on CPU", "sessions wait for locks"} <= {
        row["series"] for row in chart.data["saturation"]
    }


@pytest.mark.parametrize("which", ["built", "two"])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_text_keeps_to_its_width_and_draws_the_curve(
    which: str, width: int, request: pytest.FixtureRequest
) -> None:
    text = terminal.render(story(request.getfixturevalue(which)), width)
    assert max(map(len, text.splitlines())) <= width
    full, hollow = ("●", "○") if which == "built" else ("A", "a")
    picture = text[text.index("Latency over rate") : text.index("requested rate")]
    assert full in picture
    assert hollow in picture
    assert "400/s" in picture


def test_the_limit_is_drawn_across_the_picture(built: Built) -> None:
    assert "┄┄┄┄" in terminal.render(story(built), 80)


@pytest.mark.parametrize("which", ["built", "two"])
def test_charts_keep_within_the_limit_of_marks(which: str, request: pytest.FixtureRequest) -> None:
    for chart in request.getfixturevalue(which).charts:
        assert isinstance(chart, Chart)
        assert chart.marks <= MOST_MARKS


def test_markdown_has_every_step(built: Built) -> None:
    text = markdown.render(story(built))
    for rate in ("100/s", "200/s", "300/s", "400/s"):
        assert rate in text


def test_csv_has_a_row_for_each_step_in_their_order(built: Built) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(built.report))))
    assert [float(row["requested"]) for row in rows] == [200, 100, 400, 300, 300, 400, 100, 200]
    assert [row["run"] for row in rows] == [str(number) for number in range(3, 11)]
    assert rows[2]["capacity"] == "over capacity"


def test_a_step_without_a_result_is_reported_with_its_reason() -> None:
    report = curve_sample.curve(failures=[(0, 250.0, "the server refused the connection")]).report
    assert any("250/s" in text and "refused the connection" in text for text in report.headline)
