"""Tables of a benchmark within a page whose prose is written by hand."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import Figure, report

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


def publish(asked: argparse.Namespace, made: str, figures: Sequence[Figure], of: str = "") -> None:
    """Put the tables into the page of --markdown, print them unless --json is given, and report the figures."""
    if asked.markdown:
        put(asked.markdown, made, of)
    if not asked.json:
        print(made, end="\n\n")
    report(figures, asked.json)
