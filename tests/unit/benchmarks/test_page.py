"""Figures within a page that is written by hand."""

from __future__ import annotations

from pathlib import Path

from benchmarks.page import put


def test_figures_take_the_place_of_those_before_and_leave_the_prose(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    put(page, "old")
    page.write_text(f"# Title\n\n{page.read_text()}\n## Reading\n")
    put(page, "| new |")
    text = page.read_text()
    assert text.startswith("# Title")
    assert text.endswith("## Reading\n")
    assert "| new |" in text
    assert "old" not in text
