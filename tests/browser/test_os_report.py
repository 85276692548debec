"""The page of a trace in a real browser: every chart drawn, nothing from the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.os.roles import known_rules
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit import page as pages
from tare.report.os.build import build
from tare.report.os.charts import charts
from tare.report.os.document import OsReport
from tare.report.os.story import story
from tests.browser.opened import Seen
from tests.unit.os.sample import trace


@pytest.fixture(scope="module", params=[False, True], ids=["queries", "a load"])
def report(request: pytest.FixtureRequest) -> OsReport:
    found = trace(watched=request.param)
    return build(found, known_rules(), target="cluster tare", command="tare os run", title=None)


@pytest.fixture(scope="module")
def file(report: OsReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "os.html"
    path.write_text(pages.render(story(report)), encoding="utf-8")
    return path


def test_nothing_is_requested_from_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, report: OsReport) -> None:
    drawn = [chart for chart in charts(report) if isinstance(chart, Chart)]
    assert seen.drawn() == len(drawn) >= 4
    for chart in drawn:
        assert 0 < seen.marks(chart.name) <= MOST_MARKS, chart.name


def test_labels_do_not_lie_on_each_other(seen: Seen, report: OsReport) -> None:
    for chart in charts(report):
        assert isinstance(chart, Chart)
        assert seen.overlapping(chart.name) == [], chart.name


def test_the_page_is_no_wider_than_its_window(seen: Seen) -> None:
    page, window = seen.widths()
    assert page <= window
