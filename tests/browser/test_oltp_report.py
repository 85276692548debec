"""The page of a transactional run in a real browser: every chart drawn, one time axis, readable on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit import page as pages
from tare.report.oltp.build import Built, build
from tare.report.oltp.story import story
from tests.browser.opened import Seen
from tests.unit.report.oltp import sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def built() -> Built:
    return build(sample.run(), 3, lab="lab.db", title="Sample <b>run</b>")


@pytest.fixture(scope="module")
def file(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "oltp.html"
    path.write_text(pages.render(story(built)), encoding="utf-8")
    return path


def test_nothing_is_asked_of_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, built: Built) -> None:
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    assert seen.drawn() == len(drawn)
    for one in drawn:
        assert 0 < seen.marks(one.name) <= MOST_MARKS, one.name
        assert len(seen.said_of(one.name)) > 20


def test_times_have_units_of_their_size(seen: Seen) -> None:
    for name in ("latency", "distribution", "tail"):
        labels = [one for one in seen.shown(name, "axis-label") if one.endswith((" µs", " ms", " s"))]
        assert len(labels) >= 3, name
    assert "2 s" in seen.shown("latency", "axis-label")


def test_no_two_labels_of_an_axis_lie_on_each_other(seen: Seen, built: Built) -> None:
    for one in built.charts:
        assert isinstance(one, Chart)
        assert seen.overlapping(one.name) == [], one.name


def test_charts_over_time_stand_exactly_below_each_other(seen: Seen) -> None:
    lefts = [
        seen.page.evaluate(
            """name => document.querySelector(`#chart-${name} svg g[class*='mark-rule'] line`)
                .getBoundingClientRect().left""",
            name,
        )
        for name in ("latency", "throughput", "backlog")
    ]
    assert max(lefts) - min(lefts) < 1.5


def test_the_stall_and_the_phases_are_marked(seen: Seen) -> None:
    page = seen.page
    assert (
        page.locator("#chart-latency svg path[aria-roledescription='rect mark'][fill='#d93f3f']").count() == 1
    )
    texts = page.locator(
        "#chart-latency svg g[class*='mark-text'][class*='role-mark'] text"
    ).all_text_contents()
    assert texts == ["300/s", "400/s"]


def test_service_times_can_be_chosen_and_the_curves_move(seen: Seen) -> None:
    choose = seen.page.locator("#controls-latency select")
    assert choose.locator("option").all_text_contents() == ["response", "service"]
    line = seen.page.locator("#chart-latency svg g[class*='mark-line'] path").first
    before = line.get_attribute("d")
    choose.select_option(index=1)
    seen.page.wait_for_timeout(300)
    assert line.get_attribute("d") != before
    choose.select_option(index=0)


def test_one_type_can_be_looked_at_alone(seen: Seen) -> None:
    choose = seen.page.locator("#controls-tail select")
    assert choose.locator("option").all_text_contents() == ["all types", *sample.MIX]
    for place in range(choose.locator("option").count()):
        choose.select_option(index=place)
        seen.page.wait_for_timeout(100)
        assert seen.page.locator("#chart-tail svg g[class*='mark-line'] path").count() == 3
    choose.select_option(index=0)


def test_the_page_itself_never_scrolls_sideways(seen: Seen) -> None:
    width, window = seen.widths()
    assert width <= window


def test_tables_have_captions_and_headings(seen: Seen) -> None:
    tables = seen.page.locator("main table")
    assert seen.page.locator("main table > caption").count() == tables.count() >= 7
    assert seen.page.locator("main table:not(:has(thead th[scope=col]))").count() == 0


def test_a_page_full_of_markup_from_the_data_is_only_text_and_fits_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.html"
    hostile = build(sample.hostile(), 4, lab="lab.db", title="Sample <b>run</b>")
    path.write_text(pages.render(story(hostile)), encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 900}, offline=True)
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda said: messages.append(said.text))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    assert page.title() == "Sample <b>run</b>"
    assert page.locator("h1 b").count() == 0
    assert page.locator("script").count() == 3
    assert page.locator(".verdict-box.not").count() == 1
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert messages == []
    context.close()


def test_without_scripts_the_verdict_and_the_tables_are_all_there(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator(".verdict-box.rely").count() == 0
    assert page.locator(".verdict-box.care").inner_text().startswith("Valid, but it stood still for 2")
    assert page.locator("#types tbody tr:not(.part)").count() == 2 * 18 + 6
    context.close()
