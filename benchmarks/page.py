"""Tables of a benchmark within a page whose prose is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

BEGIN = "<!-- figures: made by the benchmark -->"
END = "<!-- end of figures -->"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def put(page: Path, figures: str) -> None:
    """In the place of the figures that are there; into a page without a place for them, as all of it."""
    there = page.read_text() if page.exists() else ""
    before, begin, rest = there.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        before, after = "", "\n"
    page.write_text(f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}")
