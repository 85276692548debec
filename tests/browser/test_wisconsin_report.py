"""The benchmark's page in a real browser: every chart drawn, nothing asked of the network, readable on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.report.charts.chart import Chart
from tare.report.kit import page
from tare.report.wisconsin.build import Built, make
from tare.report.wisconsin.story import story
from tests.browser.opened import Seen
from tests.unit.report.wisconsin.sample_lab import make_lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    lab = make_lab(tmp_path_factory.mktemp("browser") / "lab.db")
    return make(str(lab), ["1", "2", "3", "4"], title="Sample <b>benchmark</b>")


@pytest.fixture(scope="module")
def file(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "wisconsin.html"
    path.write_text(page.render(story(built)), encoding="utf-8")
    return path


def test_nothing_is_asked_of_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn(seen: Seen, built: Built) -> None:
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    assert seen.drawn() == len(drawn)
    for one in drawn:
        points = seen.page.locator(f"#chart-{one.name} svg g[class*='mark-symbol'] path").count()
        assert points > 1, one.name
        assert len(seen.said_of(one.name)) > 20


def test_axes_have_their_units_and_legends_name_the_systems(seen: Seen, built: Built) -> None:
    for one in built.charts:
        assert isinstance(one, Chart)
        assert "elapsed time (log)" in " ".join(seen.shown(one.name, "axis-title")), one.name
        units = [text for text in seen.shown(one.name, "axis-label") if text.endswith((" µs", " ms", " s"))]
        assert len(units) >= 2, one.name
        assert {"PostgreSQL 18.1", "SQLite 3.51.1"} <= {*seen.shown(one.name, "legend-label")}, one.name


def test_the_queries_of_1983_are_all_on_the_axis_beside_their_table(seen: Seen) -> None:
    labels = seen.shown("years", "axis-label")
    assert sum(label.startswith("T") for label in labels) == 32
    assert {"T4 joinAselB", "T2 100 tuples, non-clustered", "T11 modify non-key attribute"} <= {*labels}


def test_a_system_of_1983_and_one_of_today_stand_in_one_table(seen: Seen) -> None:
    table = seen.page.locator("table", has=seen.page.get_by_text("Table 4: the systems of 1983 and of today"))
    assert table.locator("tr", has_text="IDMdac").locator("td").first.inner_text() == "> 5 hours"
    today = table.locator("tr", has_text="SQLite 3.51.1").first.locator("td").first.inner_text()
    assert "n 10" in today
    assert "[" in today


def test_the_page_itself_never_scrolls_sideways(seen: Seen) -> None:
    width, window = seen.widths()
    assert width <= window


def test_tables_have_captions_and_headings(seen: Seen) -> None:
    tables = seen.page.locator("main table")
    assert seen.page.locator("main table > caption").count() == tables.count() >= 15
    assert seen.page.locator("main table:not(:has(thead th[scope=col]))").count() == 0


def test_another_size_can_be_chosen_and_moves_the_points(seen: Seen) -> None:
    choose = seen.page.locator("#controls-join-1993 select")
    assert choose.locator("option").all_text_contents() == ["10\u202f000", "31\u202f600", "100\u202f000"]
    points = seen.page.locator("#chart-join-1993 svg g[class*='mark-symbol'] path")
    before = [points.nth(place).get_attribute("aria-label") for place in range(points.count())]
    choose.select_option(index=0)
    seen.page.wait_for_timeout(300)
    after = [points.nth(place).get_attribute("aria-label") for place in range(points.count())]
    assert before != after
    choose.select_option(index=2)


def test_a_title_with_markup_in_it_is_only_text(seen: Seen) -> None:
    assert seen.page.title() == "Sample <b>benchmark</b>"
    assert seen.page.locator("h1 b").count() == 0


def test_without_scripts_the_tables_are_all_there(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.get_by_text("the systems of 1983 and of today").count() == 11
    assert page.locator(".verdict-box").count() == 1
    assert page.locator("main > p.finding").count() >= 3
    context.close()
