"""The observer in a real browser, while a real experiment runs."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.observing import Observed, observing
from tests.cli.running import start, tare
from tests.cli.test_experiment_run import JOIN, SCAN, toml

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=alert(1)>"
NEXT_MS = 20_000
"""A page looks every two seconds; these machines are shared."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The lab of an experiment that is being measured."""
    folder = tmp_path_factory.mktemp("observe")
    where = str(folder / "lab.db")
    file = toml(folder, {"lite": 'start = "sqlite"'}, {f"join {HOSTILE}": JOIN, "scan": SCAN}, qes=5000)
    process = start("experiment", "run", file, "--lab", where)
    deadline = time.monotonic() + 60
    while not (Path(where).exists() and tare("experiment", "status", "e1", "--lab", where).code == 0):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    yield where
    end(process)


def end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def observed(running: str) -> Iterator[Observed]:
    with observing(running, "--allow-control") as found:
        yield found


@pytest.fixture(params=[("light", 1200), ("dark", 400)], ids=["light", "dark, 400 px"])
def page(request: pytest.FixtureRequest, browser: Browser, observed: Observed) -> Iterator[Page]:
    """The first page. Nothing in the console, no other host asked."""
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = context.new_page()
    said: list[str] = []
    hosts: set[str] = set()
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("request", lambda asked: hosts.add(asked.url.split("/")[2]))
    found.goto(observed.address)
    found.wait_for_selector("html[data-drawn]", state="attached")
    yield found
    assert said == []
    assert hosts == {observed.origin.removeprefix("http://")}
    context.close()


def executions(page: Page) -> int:
    row = page.locator("table.facts tr", has_text="executions").locator("td")
    return int("".join(one for one in row.inner_text() if one.isdigit()))


def test_the_token_is_gone_from_the_address(page: Page, observed: Observed) -> None:
    assert page.url == f"{observed.origin}/"


def test_a_run_is_updated_while_it_is_looked_at(page: Page) -> None:
    page.click("main a:text('e1')")
    page.wait_for_selector("table.facts")
    before = executions(page)
    page.wait_for_function(
        "before => Number([...document.querySelectorAll('table.facts tr')].find("
        "row => row.textContent.includes('executions')).querySelector('td').textContent.replace(/\\D/g, '')) > before",
        arg=before,
        timeout=NEXT_MS,
    )
    assert page.locator("#live-state").inner_text() == "live"
    assert HOSTILE in page.locator("#queries").inner_text(), "as text"
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_charts_are_drawn_once_they_come_into_view(page: Page) -> None:
    page.click("main a:text('e1')")
    page.wait_for_selector("table.facts")
    page.locator("#figure-walls").scroll_into_view_if_needed()
    page.wait_for_selector("#chart-walls svg", timeout=NEXT_MS)
    assert page.locator("#chart-walls svg g[class*='role-mark'] > *").count() > 1


def test_a_filter_hides_other_rows_also_after_the_next_look(page: Page) -> None:
    page.click("main a:text('e1')")
    page.fill("#filter", "scan")
    rows = page.locator("#queries tbody tr:visible")
    assert rows.count() == 1
    page.wait_for_timeout(4500)
    assert rows.count() == 1
    page.fill("#filter", "")
    assert rows.count() == 2


def test_a_run_is_paused_and_resumed_with_the_keyboard_alone(page: Page) -> None:
    page.locator("main a", has_text="e1").focus()
    page.keyboard.press("Enter")
    for button, state in (("Pause", "Paused on request"), ("Resume", "Running")):
        page.wait_for_selector(f"button:text('{button}')", timeout=NEXT_MS)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == button:
                break
        page.keyboard.press("Enter")
        page.wait_for_selector(f".verdict-box:has-text('{state}')", timeout=NEXT_MS)
    requests = page.locator("#requests tbody tr")
    assert "resume" in requests.first.inner_text()


def test_an_observer_that_ended_is_said_and_the_page_stays(browser: Browser, running: str) -> None:
    with observing(running) as observed:
        page = browser.new_page()
        page.goto(observed.address)
        page.wait_for_selector("html[data-drawn]", state="attached")
    page.wait_for_selector("#live-state.lost", timeout=NEXT_MS)
    assert "does not answer" in page.locator("#live-state").inner_text()
    assert page.locator("main a:text('e1')").count() == 1
    page.close()
