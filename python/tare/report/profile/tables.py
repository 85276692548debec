"""Bare tables for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.report.safe import printable

NARROW = 100
"""Columns of the terminal: below it, columns of a table that can be missed are left out."""


def new_table(*columns: tuple[str, bool]) -> Table:
    """`True` sets a column flush right, on one line."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for name, is_number in columns:
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def room_for_names(
    headings: Sequence[str], rows: Iterable[Sequence[str]], width: int, left_out: Collection[int] = ()
) -> int:
    """Columns of the terminal that are left for the first column, at least 12."""
    others = [place for place in range(1, len(headings)) if place not in left_out]
    kept = [headings, *rows]
    return max(12, width - sum(2 + max(cell_len(row[place]) for row in kept) for place in others))


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    console: Console,
    *,
    left_out: Collection[int] = (),
    left: int = 1,
) -> None:
    """`left_out`: places of columns that do not fit; `left`: how many stand flush left."""
    kept = [place for place in range(len(headings)) if place not in left_out]
    table = new_table(*((headings[place], place >= left) for place in kept))
    for row in rows:
        table.add_row(*(Text(printable(row[place])) for place in kept))
    console.print()
    console.print(table)
