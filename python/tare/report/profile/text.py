"""The profile for a terminal: the verdict, the variance tree, factors, types, the tail, and what to do next.

80 columns suffice; whatever colour says, a word or a sign says too.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.report.profile import flame, view, words
from tare.report.profile.document import Node, ProfileReport
from tare.report.profile.tables import NARROW, new_table, print_table, room_for_names
from tare.report.profile.tree import Branch, Rest, cut
from tare.report.safe import printable

EVERY = ("findings", "tree", "flame", "factors", "types", "tail", "overhead", "rounds", "next")
"""What can be printed, in this order."""

PARTS = tuple(one for one in EVERY if one != "flame")
"""What is, where nothing else is asked for."""

_MOST_PATHS = 40
_MOST_TYPES = 12
_TOP_TAIL = 5
_NAME = 80  # characters
_WIDE = 120  # columns


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
    table = _tree_table(report, width)
    if table is None:
        return ""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


# The tree -------------------------------------------------------------------------------
def _tree(report: ProfileReport, console: Console) -> None:
    table = _tree_table(report, console.width)
    if table is None:
        return
    console.print()
    console.print(table)
    console.print(Text(view.SHARES, style="dim"))
    console.print(Text(view.sums(report), style="dim"))


def _flame(report: ProfileReport, console: Console) -> None:
    lines = flame.lines(report.nodes, console.width)
    console.print()
    for line in lines or ["There is no variance to draw."]:
        console.print(Text(line), no_wrap=True, crop=False, soft_wrap=True)
    if lines:
        console.print(Text(flame.NOTE, style="dim"))


def _tree_table(report: ProfileReport, width: int) -> Table | None:
    root = cut(report, _MOST_PATHS)
    if root is None:
        return None
    wide = width >= NARROW
    deepest = max(one.node.depth for one in root)
    step = 2 if deepest <= 12 else 1
    room = width - (58 if wide else 41)
    table = new_table(("the variance tree", False), ("variance", True), *((("95%", True),) if wide else ()),
                 ("own", True), ("mean", True), ("calls", True))  # fmt: skip
    for lead, name, node in _lines(root, "", "", step):
        mark = " (inferred)" if node is not None and node.inferred else ""
        of = words.middle(name, max(12, room - len(lead) - len(mark)))
        shown = Text.assemble((lead, "dim"), (of, "dim" if node is None else ""))
        if node is None:
            table.add_row(shown)
            continue
        shown.append(mark, style="dim")
        cells = [words.share(node.variance), *([words.interval(node.variance)] if wide else [])]
        strong = node.own_covariance is not None and node.own_covariance.value >= 0.1
        table.add_row(
            shown,
            *cells,
            Text(words.share(node.own_covariance), style="bold" if strong else ""),
            words.ns(node.mean_ns),
            words.calls(node.calls),
        )
    return table


def _lines(of: Branch, lead: str, below: str, step: int) -> Iterator[tuple[str, str, Node | None]]:
    yield lead, of.node.name, of.node
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


def _named(
    headings: Sequence[str],
    rows: Callable[[int], Iterable[list[str]]],
    left_out: Collection[int],
    console: Console,
) -> None:
    """A table whose first column takes the room that is left. `rows`: with names of so many characters."""
    room = room_for_names(headings, rows(_NAME), console.width, left_out)
    print_table(headings, rows(min(room, _NAME)), console, left_out=left_out)


def _places(headings: Sequence[str], *names: str) -> list[int]:
    return [headings.index(one) for one in names]


# Tables ---------------------------------------------------------------------------------
def _factors(report: ProfileReport, console: Console, top: int) -> None:
    if not report.factors:
        return
    left_out = _places(
        view.FACTOR_HEADINGS,
        *(("specificity", "paths") if console.width < _WIDE else ()),
        *(("95% interval",) if console.width < NARROW else ()),
    )
    _named(view.FACTOR_HEADINGS, partial(view.factor_rows, report, top), left_out, console)
    left = len(report.factors) - top
    if left > 0:
        console.print(Text(f"and {words.thousands(left)} more factors", style="dim"))
    console.print(Text(view.SCORE, style="dim"))


def _types(report: ProfileReport, console: Console) -> None:
    if not report.types:
        return
    wide = console.width >= NARROW
    left_out = () if wide else _places(view.TYPE_HEADINGS, "p50", "on CPU", "off CPU")
    _named(view.TYPE_HEADINGS, partial(view.type_rows, report, _MOST_TYPES), left_out, console)
    if len(report.types) > _MOST_TYPES:
        left = words.thousands(len(report.types) - _MOST_TYPES)
        console.print(Text(f"and {left} more types", style="dim"))


def _tail(report: ProfileReport, console: Console) -> None:
    if report.tail:
        _named(view.TAIL_HEADINGS, partial(view.tail_rows, report, _TOP_TAIL), (), console)
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
