"""Figures come to their place in a page, and the prose around them stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.page import put


def test_figures_take_the_place_of_those_of_the_same_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What it costs\n\nBefore.\n")
    put(page, "1.1", "disk")
    put(page, "2.2", "memory")
    page.write_text(page.read_text() + "\nAfter.\n")
    put(page, "1.3", "disk")
    put(page, "2.4", "memory")
    written = page.read_text()
    assert [one for one in ("1.1", "1.3", "2.2", "2.4") if one in written] == ["1.3", "2.4"]
    assert written.startswith("# What it costs\n\nBefore.\n")
    assert written.endswith("\nAfter.\n")


def test_a_page_that_is_not_there_is_made(tmp_path: Path) -> None:
    put(tmp_path / "page.md", "1.1")
    put(tmp_path / "page.md", "1.2")
    assert (tmp_path / "page.md").read_text() == (
        "<!-- figures: made by the benchmark -->\n\n1.2\n\n<!-- end of figures -->\n"
    )


def test_figures_that_begin_and_do_not_end_are_told_and_nothing_is_lost(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    put(page, "1.1", "disk")
    put(page, "2.2", "memory")
    torn = page.read_text().replace("<!-- end of figures -->", "", 1)
    page.write_text(torn)
    with pytest.raises(SystemExit, match="has no end of its own"):
        put(page, "1.3", "disk")
    assert page.read_text() == torn
    page.write_text(torn.replace("<!-- end of figures -->", ""))
    with pytest.raises(SystemExit, match="of memory"):
        put(page, "2.4", "memory")
