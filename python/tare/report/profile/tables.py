"""Bare tables for a terminal. At any width all columns are shown: names are cut, then stand on lines of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.report.safe import printable

FEWEST = 24
"""Characters that names beside figures have at least, unless all of them are shorter."""

MOST = 80
"""Characters of a name."""

_GAPS = (2, 1)
"""Columns between figures, the first that fits."""


def new_table(*columns: tuple[str, bool]) -> Table:
    """`True` sets a column flush right, on one line."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for name, is_number in columns:
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], console: Console, *, left: int = 1
) -> None:
    """`left`: how many columns stand flush left."""
    table = new_table(*((heading, place >= left) for place, heading in enumerate(headings)))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print()
    console.print(table)


def print_named(
    headings: Sequence[str], rows: Callable[[int], Iterable[Sequence[str]]], console: Console
) -> None:
    """A name and figures by row. `rows`: with names of at most so many characters."""
    full = list(rows(MOST))
    widths = [max(cell_len(row[place]) for row in (headings, *full)) for place in range(1, len(headings))]
    longest = max(cell_len(row[0]) for row in (headings, *full))
    console.print()
    for gap in _GAPS:
        room = console.width - sum(widths) - gap * len(widths)
        if room >= min(longest, max(FEWEST, cell_len(headings[0]))):
            name = min(room, longest)
            for place, row in enumerate((headings, *(full if room >= longest else rows(room)))):
                _line(_padded(row[0], name) + _figures(row[1:], widths, gap), console, dim=place == 0)
            return
    gap = next((gap for gap in _GAPS if sum(widths) + gap * len(widths) <= console.width), 0)
    _line(headings[0], console, dim=True)
    if gap:
        _line(_figures(headings[1:], widths, gap), console, dim=True)
    for row in full if longest <= console.width else rows(console.width):
        _line(row[0], console)
        if gap:
            _line(_figures(row[1:], widths, gap), console)
        else:
            for line in _in_words(headings[1:], row[1:], console.width):
                _line(line, console)


def _in_words(headings: Sequence[str], cells: Sequence[str], width: int) -> Iterator[str]:
    """Each figure after its heading, and no line end between them."""
    figures = [f"{heading} {cell}" for heading, cell in zip(headings, cells, strict=True) if cell]
    line = ""
    for place, one in enumerate(figures):
        one += "," if place < len(figures) - 1 else ""
        if line and cell_len(line) + 1 + cell_len(one) > width:
            yield line
            line = ""
        line = f"{line or ' '} {one}"
    if line:
        yield line


def _figures(cells: Sequence[str], widths: Sequence[int], gap: int) -> str:
    return "".join(cell.rjust(width + gap) for cell, width in zip(cells, widths, strict=True))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _line(text: str, console: Console, *, dim: bool = False) -> None:
    console.print(Text(printable(text), style="dim" if dim else ""), no_wrap=True, soft_wrap=True)
