"""The page of a curve in a real browser: every chart drawn, hollow points where there is no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.protocol.oltp.limit import Limit
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit import page as pages
from tare.report.oltp.curve.build import Built
from tare.report.oltp.curve.story import story
from tests.browser.opened import Seen
from tests.unit.report.oltp import curve_sample


@pytest.fixture(scope="module", params=[1, 2], ids=["one server", "two servers"])
def built(request: pytest.FixtureRequest) -> Built:
    return curve_sample.curve(request.param, limit=Limit("p99", 40.0))


@pytest.fixture(scope="module")
def file(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "curve.html"
    path.write_text(pages.render(story(built)), encoding="utf-8")
    return path


def test_nothing_is_requested_from_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, built: Built) -> None:
    assert seen.drawn() == len(built.charts)
    for chart in built.charts:
        assert isinstance(chart, Chart)
        assert 0 < seen.marks(chart.name) <= MOST_MARKS, chart.name
        assert len(seen.said_of(chart.name)) > 20


def test_steps_that_are_no_results_are_hollow(seen: Seen, built: Built) -> None:
    points = seen.page.locator("#chart-curve svg g[class*='role-mark'] path[fill='transparent']").count()
    over = [step for step in built.report.steps if not step.is_result]
    shown = (
        len(over) * 4 if len(built.report.arms) == 1 else len(over)
    )  # of several servers one figure at a time
    assert points == shown


def test_labels_do_not_lie_on_each_other(seen: Seen, built: Built) -> None:
    for chart in built.charts:
        assert isinstance(chart, Chart)
        assert seen.overlapping(chart.name) == [], chart.name


def test_the_page_is_no_wider_than_its_window(seen: Seen) -> None:
    page, window = seen.widths()
    assert page <= window
