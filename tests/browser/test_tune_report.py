"""The page of a tuning run in a real browser: every chart drawn, nothing from the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit import page as pages
from tare.report.tune.build import build
from tare.report.tune.charts import charts, effects
from tare.report.tune.document import TuningReport
from tare.report.tune.story import story
from tests.browser.opened import Seen
from tests.unit.tune.sample import tuning


@pytest.fixture(scope="module", params=[False, True], ids=["a run", "a search"])
def report(request: pytest.FixtureRequest) -> TuningReport:
    return build(tuning(searched=request.param))


@pytest.fixture(scope="module")
def file(report: TuningReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "tune.html"
    path.write_text(pages.render(story(report)), encoding="utf-8")
    return path


def drawn(report: TuningReport) -> list[Chart]:
    return [chart for chart in (*effects(report), *charts(report)) if isinstance(chart, Chart)]


def test_nothing_is_requested_from_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, report: TuningReport) -> None:
    assert [chart.name for chart in drawn(report)] == ["effects", "tradeoff", "windows"]
    assert seen.drawn() == 3
    for chart in drawn(report):
        assert 0 < seen.marks(chart.name) <= MOST_MARKS, chart.name


def test_only_verdicts_that_were_given_stand_in_the_legend(seen: Seen, report: TuningReport) -> None:
    given = {result.verdict.value for arm in report.arms for result in arm.results}
    assert set(seen.shown("effects", "legend-label")) == {"noise floor", *given}


def test_labels_do_not_lie_on_each_other(seen: Seen, report: TuningReport) -> None:
    for chart in drawn(report):
        assert seen.overlapping(chart.name) == [], chart.name


def test_the_page_is_no_wider_than_its_window(seen: Seen) -> None:
    page, window = seen.widths()
    assert page <= window
