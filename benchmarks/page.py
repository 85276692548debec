"""Tables of a benchmark within a page whose prose is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

END = "<!-- end of figures -->"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def put(page: Path, figures: str, of: str = "") -> None:
    """In the place of the figures that are there, of the same run where a page has those of several (`of`); behind
    the page where there is no such place."""
    begin = f"<!-- figures{of and f' of {of}'}: made by the benchmark -->"
    block = f"{begin}\n\n{figures}\n\n{END}"
    there = page.read_text() if page.exists() else ""
    before, found, rest = there.partition(begin)
    if found:
        old, ended, after = rest.partition(END)
        if not ended or "<!-- figures" in old:
            raise SystemExit(f"{page}: what follows {begin!r} has no end of its own: put {END!r} where it is")
        page.write_text(before + block + after)
    else:
        page.write_text(f"{there.rstrip()}\n\n{block}\n".lstrip())
