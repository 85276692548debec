"""The HTML report in a real browser: it draws every chart, asks nothing of the network, and lets no name run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tare.lab.frames import open_frames
from tare.protocol.model.holding import hold
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.conditions.facts import facts_of
from tare.report.experiment.build import Built, build
from tare.report.experiment.story import story
from tare.report.kit import page as report_page
from tests.browser.opened import Seen
from tests.unit.report.experiment import sample_outcome
from tests.unit.report.experiment.sample_lab import make_lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = {
    "join": "</script><script>document.title='taken'</script>",
    "scan": '"><img src=x onerror="document.title=\'taken\'">',
    "sort": "'];document.title='taken';//",
    "point": "${document.title='taken'} {{7*7}} 'x' || datum",
    "window": "\u202e<svg onload=\"document.title='taken'\"> &lt;b&gt; http://example.invalid/x.png",
    "daemon": "<img src=x onerror=alert(1)>",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    lab = make_lab(tmp_path_factory.mktemp("browser") / "lab.db", names=HOSTILE)
    frames = open_frames(str(lab))
    outcomes = [sample_outcome.outcome(frames, name) for name in ("ttp1", "ttp2", "exact")]
    models = [hold(frames, name) for name in ("ttp2", "ttp1")]
    return build(
        frames, facts_of(str(lab), [1, 2]), outcomes, models, lab="lab.db", title="Sample <b>report</b>"
    )


@pytest.fixture(scope="module")
def file(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page.render(story(built)), encoding="utf-8")
    return path


def drawn(built: Built) -> list[Chart]:
    return [one for one in built.charts if isinstance(one, Chart)]


def test_the_file_is_below_one_and_a_half_megabytes(file: Path) -> None:
    assert file.stat().st_size < 1_500_000


def test_nothing_is_asked_of_the_network(seen: Seen, file: Path) -> None:
    assert seen.requests == [file.as_uri()]


def test_the_browser_has_nothing_to_complain_of(seen: Seen) -> None:
    assert seen.messages == []


def test_every_chart_is_drawn_with_marks_within_the_limit(seen: Seen, built: Built) -> None:
    charts = drawn(built)
    assert seen.drawn() == len(charts)
    assert len(charts) >= 16
    for chart in charts:
        assert 0 < seen.marks(chart.name) <= MOST_MARKS, chart.name


def test_axes_are_labelled_with_units(seen: Seen) -> None:
    expected = {
        "run-order": ("QE, in run order", "measured time / its Q@C's median"),
        "cardinality": ("cardinality of the variable table, rows", "calculated time, ms"),
        "components": ("mean time, ms",),
        "pairs": ("an odd QE's time / its Q@C's median", "the next QE's time"),
        "timeline": ("time since the clock started, ms",),
        "funnel-ttp2": ("share left, %",),
    }
    for name, titles in expected.items():
        shown = " ".join(seen.shown(name, "axis-title"))
        for title in titles:
            assert title in shown, f"{name}: {shown}"
        labels = seen.shown(name, "axis-label")
        assert len([label for label in labels if label.strip()]) >= 3, name


def test_every_chart_has_words_for_who_cannot_see_it(seen: Seen, built: Built) -> None:
    for chart in drawn(built):
        assert len(seen.said_of(chart.name)) > 20
        assert len(seen.page.locator(f"#figure-{chart.name} figcaption").inner_text()) > 20


def test_no_name_from_the_data_becomes_markup_or_runs(seen: Seen) -> None:
    assert seen.page.title() == "Sample <b>report</b>"
    assert seen.page.locator("img").count() == 0
    assert seen.page.locator("h1 b").count() == 0
    assert seen.page.locator("script").count() == 3
    shown = seen.page.locator("#times").inner_text()
    assert "</script><script>document.title" in shown


def test_a_hostile_query_can_be_chosen_and_hovered_and_still_does_nothing(seen: Seen) -> None:
    page = seen.page
    lists = page.locator("#controls-cardinality select")
    for place in range(lists.locator("option").count()):
        lists.select_option(index=place)
    page.wait_for_timeout(200)
    before = seen.marks("cardinality")
    assert before > 0
    page.locator("#controls-components select").select_option(index=1)
    figure = page.locator("#chart-cardinality")
    figure.scroll_into_view_if_needed()
    points = page.locator("#chart-cardinality svg g[class*='mark-symbol'] path")
    points.first.hover(force=True)
    page.wait_for_timeout(200)
    assert (
        page.locator("#vg-tooltip-element img, #vg-tooltip-element script, #vg-tooltip-element svg").count()
        == 0
    )
    assert page.title() == "Sample <b>report</b>"
    assert seen.messages == []


def test_choosing_a_query_leaves_only_its_lines(seen: Seen) -> None:
    choose = seen.page.locator("#controls-cardinality select")
    choose.select_option(index=0)
    seen.page.wait_for_timeout(300)
    every = seen.marks("cardinality")
    choose.select_option(index=1)
    seen.page.wait_for_timeout(300)
    assert 0 < seen.marks("cardinality") < every
    choose.select_option(index=0)


def test_the_page_itself_never_scrolls_sideways(seen: Seen) -> None:
    width, window = seen.widths()
    assert width <= window


def test_tables_have_captions_and_headings(seen: Seen) -> None:
    tables = seen.page.locator("main table")
    assert tables.count() >= 8
    assert seen.page.locator("main table > caption").count() == tables.count()
    assert seen.page.locator("main table:not(:has(thead th[scope=col]))").count() == 0
    assert seen.page.locator("html").get_attribute("lang") == "en"


def test_text_follows_light_and_dark(browser: Browser, file: Path) -> None:
    colours: dict[str, Any] = {}
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours[scheme] = page.evaluate(
            """() => [getComputedStyle(document.documentElement).backgroundColor,
            getComputedStyle(document.querySelector("#chart-run-order svg g[class*='axis-title'] text")).fill]"""
        )
    context.close()
    assert colours["light"][0] == "rgb(255, 255, 255)"
    for page_colour, text in colours.values():
        assert abs(_lightness(page_colour) - _lightness(text)) > 150


def _lightness(colour: str) -> float:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


def test_without_scripts_the_paragraphs_and_tables_are_all_there(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("#statement p.finding").count() >= 2
    assert "The charts need JavaScript" in page.locator("main").inner_text()
    assert page.locator("#times tbody tr").count() == 44
    context.close()
