"""The profile for a terminal: the verdict, the variance tree, factors, types, the tail, and what to do next.

80 columns suffice; whatever colour says, a word or a sign says too.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rich.console import Console
from rich.text import Text

from tare.report.kit.names import Names
from tare.report.profile import flame, view, words
from tare.report.profile.document import Node, ProfileReport
from tare.report.profile.names import report_names
from tare.report.profile.tables import print_named, print_table
from tare.report.profile.tree import Branch, Rest, cut
from tare.report.safe import printable

EVERY = ("findings", "tree", "flame", "factors", "types", "tail", "overhead", "rounds", "next")
"""What can be printed, in this order."""

PARTS = tuple(one for one in EVERY if one != "flame")
"""What is, where nothing else is asked for."""

_MOST_PATHS = 40
_MOST_TYPES = 12
_TOP_TAIL = 5


def print_report(
    report: ProfileReport, console: Console, parts: Collection[str] = PARTS, top: int = view.TOP
) -> None:
    """Prints `parts`; of factors the first `top`."""
    printers: dict[str, Callable[[ProfileReport, Console], None]] = {
        "findings": _findings,
        "tree": _tree,
        "flame": _flame,
        "factors": partial(_factors, top=top),
        "types": _types,
        "tail": _tail,
        "overhead": _overhead,
        "rounds": _rounds,
        "next": _next,
    }
    for part in EVERY:
        if part in parts:
            printers[part](report, console)


def render(report: ProfileReport, width: int = 100, parts: Collection[str] = PARTS) -> str:
    """The same as plain text, without colour."""
    out = io.StringIO()
    print_report(report, Console(file=out, width=width, color_system=None, force_terminal=False), parts)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _findings(report: ProfileReport, console: Console) -> None:
    for place, one in enumerate(report.headline):
        style = ("bold" if report.valid else "bold red") if place == 0 else ""
        console.print(Text(printable(one), style=style))
    for one in report.warnings:
        console.print(Text(f"warning: {printable(one)}", style="yellow"))
    for one in report.notes:
        console.print(Text(f"note: {printable(one)}", style="dim"))


def tree(report: ProfileReport, width: int) -> str:
    """The variance tree alone, as plain text; empty without paths."""
    return "".join(f"{line.plain.rstrip()}\n" for line in _tree_lines(report, width))


# The tree -------------------------------------------------------------------------------
def _tree(report: ProfileReport, console: Console) -> None:
    lines = _tree_lines(report, console.width)
    if not lines:
        return
    console.print()
    for line in lines:
        console.print(line, no_wrap=True, soft_wrap=True)
    console.print(Text(view.SHARES, style="dim"))
    console.print(Text(view.sums(report), style="dim"))
    for said in (view.watching(report), view.unreturned(report)):
        if said:
            console.print(Text(printable(said), style="dim"))


def _flame(report: ProfileReport, console: Console) -> None:
    lines = flame.lines(report.nodes, console.width)
    console.print()
    for line in lines or ["There is no variance to draw."]:
        console.print(Text(line), no_wrap=True, crop=False, soft_wrap=True)
    if lines:
        console.print(Text(flame.NOTE, style="dim"))


_FIGURES = ("variance", "95%", "own", "mean", "calls")
_TREE = "the variance tree"
_LEAST_NAME = 16  # characters beside the figures; with less room, figures stand on a line of their own


@dataclass(frozen=True, slots=True)
class _Row:
    lead: str
    name: str
    node: Node | None  # None: what the line says is of no path
    figures: list[str]


@dataclass(frozen=True, slots=True)
class _Figures:
    """The columns at the right edge."""

    widths: Sequence[int]
    gap: int

    @property
    def width(self) -> int:
        return sum(self.widths) + self.gap * len(self.widths)

    def aligned(self, cells: Sequence[str], style: str = "", strong: int | None = None) -> Text:
        """`strong`: the place of a cell that stands out."""
        line = Text()
        for place, (cell, width) in enumerate(zip(cells, self.widths, strict=True)):
            line.append(cell.rjust(width + self.gap), "bold" if place == strong else style)
        return line


def _tree_lines(report: ProfileReport, width: int) -> list[Text]:
    """All figures at any width: names are cut, and then have lines of their own. Empty without paths."""
    root = cut(report, _MOST_PATHS)
    if root is None:
        return []
    rows = [_Row(lead, name, node, _node_figures(node)) for lead, name, node in _lines(root, "", "", 2)]
    widths = [max(map(len, column)) for column in zip(_FIGURES, *(row.figures for row in rows), strict=True)]
    figures = next(
        (one for one in (_Figures(widths, 2), _Figures(widths, 1)) if one.width <= width), _Figures(widths, 1)
    )
    room = width - figures.width
    if room < _deepest(rows) + _LEAST_NAME:
        rows = [replace(row, lead=row.lead[::2]) for row in rows]
    names = report_names(report)
    heading = Text(_TREE, style="dim")
    headings = figures.aligned(_FIGURES, style="dim")
    if room < _deepest(rows) + _LEAST_NAME:
        under = [_padded(Text(), room) + headings]
        return [
            heading,
            *under,
            *(line for row in rows for line in _on_two_lines(row, names, figures, width)),
        ]
    return [_padded(heading, room) + headings, *(_on_one_line(row, names, figures, width) for row in rows)]


def _deepest(rows: Sequence[_Row]) -> int:
    return max(len(row.lead) for row in rows)


def _on_one_line(row: _Row, names: Names, figures: _Figures, width: int) -> Text:
    if row.node is None:
        return _name(row, names, width)
    room = width - figures.width
    return _padded(_name(row, names, room), room) + _figures_of(row, figures)


def _on_two_lines(row: _Row, names: Names, figures: _Figures, width: int) -> Iterator[Text]:
    yield _name(row, names, width)
    if row.node is not None:
        guides = row.lead.replace("├", "│").replace("└", " ").replace("╴", " ")
        yield _padded(Text(guides, style="dim"), width - figures.width) + _figures_of(row, figures)


def _name(row: _Row, names: Names, width: int) -> Text:
    mark = _mark(row.node)
    most = max(_LEAST_NAME // 2, width - len(row.lead) - len(mark))
    name = words.middle(row.name, most) if row.node is None else names.cut(row.name, most)
    return Text.assemble((row.lead, "dim"), (name, "dim" if row.node is None else ""), (mark, "dim"))


def _figures_of(row: _Row, figures: _Figures) -> Text:
    own = row.node.own_covariance if row.node else None
    strong = own is not None and own.value >= 0.1
    return figures.aligned(row.figures, strong=_FIGURES.index("own") if strong else None)


def _padded(text: Text, width: int) -> Text:
    return text + Text(" " * max(0, width - text.cell_len))


def _node_figures(node: Node | None) -> list[str]:
    """In the order of _FIGURES."""
    if node is None:
        return [""] * len(_FIGURES)
    return [
        words.share(node.variance),
        words.interval(node.variance),
        words.share(node.own_covariance),
        words.ns(node.mean_ns),
        words.calls(node.calls),
    ]


def _mark(node: Node | None) -> str:
    if node is None:
        return ""
    recursive = f" (recursive, depth {node.recursion})" if node.recursion > 1 else ""
    return f"{' (inferred)' if node.inferred else ''}{recursive}"


def _lines(of: Branch, lead: str, below: str, step: int) -> Iterator[tuple[str, str, Node | None]]:
    yield lead, of.title, of.node
    said = [one for one in (_together(of), _rest(of.rest)) if one]
    last = len(of.branches) + len(said) - 1
    for place, one in enumerate(of.branches):
        here, under = _guides(place == last, step)
        yield from _lines(one, below + here, below + under, step)
    for place, text in enumerate(said, len(of.branches)):
        yield below + _guides(place == last, step)[0], text, None


def _guides(last: bool, step: int) -> tuple[str, str]:
    return ("└╴" if last else "├╴")[:step], ("  " if last else "│ ")[:step]


def _together(of: Branch) -> str:
    if not of.node.children or abs(of.together) < 0.01:
        return ""
    return f"{words.percent(of.together)} by what varies together"


def _rest(of: Rest | None) -> str:
    if of is None:
        return ""
    paths = "1 more path" if of.paths == 1 else f"{words.thousands(of.paths)} more paths"
    return f"{paths}: own shares {words.percent(of.own)}"


# Tables ---------------------------------------------------------------------------------
def _factors(report: ProfileReport, console: Console, top: int) -> None:
    if not report.factors:
        return
    print_named(view.FACTOR_HEADINGS, partial(view.factor_rows, report, top), console)
    left = len(report.factors) - top
    if left > 0:
        console.print(Text(f"and {words.thousands(left)} more factors", style="dim"))
    console.print(Text(view.SCORE, style="dim"))


def _types(report: ProfileReport, console: Console) -> None:
    if not report.types:
        return
    print_named(view.TYPE_HEADINGS, partial(view.type_rows, report, _MOST_TYPES), console)
    if len(report.types) > _MOST_TYPES:
        left = words.thousands(len(report.types) - _MOST_TYPES)
        console.print(Text(f"and {left} more types", style="dim"))


def _tail(report: ProfileReport, console: Console) -> None:
    if report.tail:
        print_named(view.TAIL_HEADINGS, partial(view.tail_rows, report, _TOP_TAIL), console)
        console.print(Text(view.TAIL, style="dim"))


def _overhead(report: ProfileReport, console: Console) -> None:
    rows = view.overhead_rows(report)
    if rows:
        print_table(("overhead of the profiling", ""), rows, console, left=2)


def _rounds(report: ProfileReport, console: Console) -> None:
    if not report.rounds:
        return
    console.print()
    console.print(Text(printable(view.rounds(report))))
    for row in view.round_rows(report, 4):
        number, functions, added, why, predicted = row
        console.print(
            Text(printable(f"{number}: {functions} functions, {predicted} predicted; {why}: {added}"))
        )


def _next(report: ProfileReport, console: Console) -> None:
    console.print()
    console.print(Text(printable(f"next: {report.next.says}")))
    if report.next.command:
        console.print(Text(f"  {printable(report.next.command)}", style="bold", no_wrap=True, overflow="ignore"),
                      soft_wrap=True)  # fmt: skip
