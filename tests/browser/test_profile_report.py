"""The page of a profile in a real browser: the icicle drawn and enlarged, the tree opened, readable on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit.page import render
from tare.report.profile.build import Built, build
from tare.report.profile.story import story
from tests.browser.opened import Seen
from tests.unit.report.profile import sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def built() -> Built:
    return sample.report()


@pytest.fixture(scope="module")
def file(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "profile.html"
    path.write_text(render(story(built)), encoding="utf-8")
    return path


def test_nothing_is_asked_of_the_network_and_the_browser_is_content(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, built: Built) -> None:
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    assert {one.name for one in drawn} == {"icicle", "durations", "slower", "cpu", "tail", "windows"}
    assert seen.drawn() == len(drawn)
    for one in drawn:
        assert 0 < seen.marks(one.name) <= MOST_MARKS, one.name
        assert len(seen.said_of(one.name)) > 20


def test_the_icicle_is_as_wide_as_the_shares_and_names_what_has_room(seen: Seen, built: Built) -> None:
    icicle = next(one for one in built.charts if isinstance(one, Chart) and one.name == "icicle")
    boxes = seen.page.evaluate(
        """() => [...document.querySelectorAll("#chart-icicle svg g[class*='mark-rect'] path")].map(
            path => { const box = path.getBBox(); return [box.x, box.width]; })"""
    )
    rows = icicle.data["icicle"]
    assert len(boxes) == len(rows)
    root = next(width for (_, width), row in zip(boxes, rows, strict=True) if row["name"] == "transaction")
    share = next(row["to"] - row["from"] for row in rows if row["name"] == "transaction")
    for (_, width), row in zip(boxes, rows, strict=True):
        assert width == pytest.approx(root * (row["to"] - row["from"]) / share, abs=1.0)
    texts = seen.page.locator("#chart-icicle svg g[class*='mark-text'] text").all_text_contents()
    assert "transaction" in texts
    assert any(one.startswith("LWLock") for one in texts)


def test_a_click_on_a_path_makes_it_as_wide_as_the_page_and_one_where_there_is_none_shows_all(
    seen: Seen,
) -> None:
    def widths() -> list[float]:
        found: list[float] = seen.page.evaluate(
            """() => [...document.querySelectorAll("#chart-icicle svg g[class*='mark-rect'] path")].map(
                path => path.getBBox().width)"""
        )
        return found

    before = widths()
    path = seen.page.locator("#chart-icicle svg g[class*='mark-rect'] path[aria-label*='XLogFlush']").first
    path.click(position={"x": 5, "y": 5})
    seen.page.wait_for_timeout(300)
    assert max(widths()) > 1.1 * max(before)
    seen.page.locator("#chart-icicle svg.marks").click(position={"x": 200, "y": 150})
    seen.page.wait_for_timeout(300)
    assert widths() == pytest.approx(before, abs=0.5)


def test_the_tree_opens_and_closes(seen: Seen) -> None:
    page = seen.page
    shown = page.locator(".paths summary.path:visible").count()
    page.locator(".paths summary.path").first.click()
    assert page.locator(".paths summary.path:visible").count() == 1
    page.locator(".paths summary.path").first.click()
    assert page.locator(".paths summary.path:visible").count() == shown > 3


def test_numbers_of_the_tree_stand_below_each_other(seen: Seen) -> None:
    if seen.page.viewport_size is not None and seen.page.viewport_size["width"] < 640:
        return  # there each path's numbers stand below its name
    rights = seen.page.evaluate(
        """() => [...document.querySelectorAll(".paths .path b[data-of=mean]")].filter(one => one.offsetParent)
            .map(one => Math.round(one.getBoundingClientRect().right))"""
    )
    assert len(set(rights)) == 1


def test_bars_of_factors_lie_within_their_cells(seen: Seen) -> None:
    outside = seen.page.evaluate(
        """() => [...document.querySelectorAll("#factors .track")].filter(track => {
            const box = track.getBoundingClientRect();
            return [...track.children].some(part => { const of = part.getBoundingClientRect();
                return of.left < box.left - 1.5 || of.right > box.right + 1.5; }); }).length"""
    )
    assert outside == 0
    assert seen.page.locator("#factors .track i.minus").count() >= 1


def test_no_two_labels_of_an_axis_lie_on_each_other(seen: Seen, built: Built) -> None:
    for one in built.charts:
        if isinstance(one, Chart):
            assert seen.overlapping(one.name) == [], one.name


def test_the_page_itself_never_scrolls_sideways(seen: Seen) -> None:
    width, window = seen.widths()
    assert width <= window


def test_tables_have_captions_and_headings(seen: Seen) -> None:
    tables = seen.page.locator("main table")
    assert seen.page.locator("main table > caption").count() == tables.count() >= 7
    assert seen.page.locator("main table:not(:has(thead th[scope=col]))").count() == 0


@pytest.mark.parametrize("which", ["hostile", "nothing", "alike", "forest"])
def test_the_odd_ones_are_only_text_and_fit_a_phone(which: str, browser: Browser, tmp_path: Path) -> None:
    forest = sample.Bare(9000, sample.forest(400)).findings(mean_ns=1e6, sd_ns=1e5)
    odd = build(forest, sample.ABOUT) if which == "forest" else getattr(sample, which)()
    path = tmp_path / "odd.html"
    path.write_text(render(story(odd)), encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 900}, offline=True)
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda said: messages.append(said.text))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    assert page.locator("h1 b").count() == 0
    # A page without charts carries no library that draws them.
    assert page.locator("script").count() == (2 if which in {"nothing", "alike"} else 3)
    assert page.locator(".verdict-box.not").count() == (which in ("hostile", "nothing"))
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert messages == []
    context.close()


def test_without_scripts_the_verdict_the_tree_and_the_tables_are_all_there(
    browser: Browser, file: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator(".verdict-box b").inner_text() == "Valid"
    page.locator(".paths summary.path").last.click()
    assert page.locator("#factors tbody tr").count() >= 10
    context.close()
