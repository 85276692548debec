"""A headless Chromium that is installed already; without one these tests are skipped, and say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.opened import WIDTHS, Seen

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(_NAMES)} is on the PATH (apt install chromium)")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module", params=WIDTHS.values(), ids=WIDTHS.keys())
def seen(request: pytest.FixtureRequest, browser: Browser, file: Path) -> Iterator[Seen]:
    """The page that a module's `file` is, at each width, without a network."""
    context = browser.new_context(viewport={"width": request.param, "height": 900}, offline=True)
    page = context.new_page()
    found = Seen(page)
    page.on("request", lambda asked: found.requests.append(asked.url))
    page.on("console", lambda said: found.messages.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: found.messages.append(f"error: {error}"))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    yield found
    context.close()
