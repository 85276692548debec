"""A comparison of two profiles for a terminal, as Markdown and as JSON: what stands against it first."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from tare.report.json import laid_out
from tare.report.kit.markdown import plain, table
from tare.report.profile import comparison_view as view
from tare.report.profile import words
from tare.report.profile.comparison import Comparison
from tare.report.profile.tables import print_named
from tare.report.safe import printable

_MOST = 20


def print_verdict(found: Comparison, console: Console) -> None:
    """Warnings, then what became of the variance."""
    for place, one in enumerate([*found.warnings, *view.verdict(found)]):
        console.print(Text(printable(one), style="yellow" if place < len(found.warnings) else "bold"))


def print_comparison(found: Comparison, console: Console) -> None:
    """At any width."""
    print_verdict(found, console)
    console.print(
        Text(printable(f"before  {view.side(found.before)}\nafter   {view.side(found.after)}"), style="dim")
    )
    print_named(view.SUMMARY, lambda _: view.summary_rows(found), console)
    print_named(view.HEADINGS, lambda name: view.rows(found, _MOST, name), console)
    left = len(found.functions) - _MOST
    console.print(
        Text(
            view.NOTE + (f" {words.thousands(left)} more in the JSON form." if left > 0 else ""), style="dim"
        )
    )
    console.print(Text(found.method, style="dim"))


def render(found: Comparison, width: int = 100) -> str:
    """The same as plain text, without colour."""
    out = io.StringIO()
    print_comparison(found, Console(file=out, width=width, color_system=None, force_terminal=False))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def render_markdown(found: Comparison) -> str:
    blocks = [
        f"# {plain(found.title)}",
        f"Written {found.written_at[:10]} by Tare {found.written_by}.",
        f"- before: {plain(view.side(found.before))}\n- after: {plain(view.side(found.after))}",
        *(f"**{plain(one)}**" for one in found.warnings),
        *(plain(one) for one in view.verdict(found)),
        table(("", *view.SUMMARY[1:]), view.summary_rows(found)),
        table(view.HEADINGS, view.rows(found, 2 * _MOST, 80)),
        view.NOTE.replace("*", "\\*"),
        "## How it was computed",
        plain(found.method),
    ]
    return "\n\n".join(blocks) + "\n"


def render_json(found: Comparison) -> str:
    return laid_out(found.model_dump(mode="json", by_alias=True)) + "\n"
