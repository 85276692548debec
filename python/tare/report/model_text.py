"""A causal model held against the data, for a terminal: TTPv2 Table VI, and what it does not show.

Readable without colour: each verdict has a sign.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tare.protocol.model.groups import by_group, letters, tally
from tare.protocol.model.result import ModelResult, Observed, Verdict
from tare.report.model_signs import LEVELS, SIGNS
from tare.report.numbers import MINUS, fixed

STYLES = {
    Verdict.EXACT: "green",
    Verdict.CLOSE: "yellow",
    Verdict.OFF: "red",
    Verdict.NOT_SIGNIFICANT: "dim",
    Verdict.NON_VARYING: "dim",
    Verdict.MISSING: "dim",
}
MEANINGS = {
    Verdict.EXACT: "exact",
    Verdict.CLOSE: "close (one level off)",
    Verdict.OFF: "off (two levels, or negative)",
    Verdict.NOT_SIGNIFICANT: "not significant (p ≥ 0.05)",
    Verdict.NON_VARYING: "non-varying",
    Verdict.MISSING: "not measured",
}
MOST_WIDE = 7  # columns of a table with r as "0.920" in 80 columns of a terminal


def print_model(result: ModelResult, console: Console) -> None:
    """Prints the pooled table, then each DBMS's; 80 columns suffice."""
    console.print()
    which = f" that {result.retained_by} retains" if result.retained_by else ""
    console.print(Text.assemble((result.title, "bold"), f"  over {fixed(result.qes, 0)} QEs{which}"))
    console.print(Text(result.citation, style="dim"))
    alone = len(result.dbmses) == 1
    for dbms in (None, *(() if alone else result.dbmses)):
        pooled = (
            result.dbmses[0] if alone else f"pooled over {', '.join(result.dbmses)}, each scaled by itself"
        )
        _scope(dbms or pooled, result.of(dbms), console)
    console.print()
    console.print(Text("each cell: the level that is predicted, and r as it was found", style="dim"))


def p_text(p: float) -> str:
    """A p-value, to be read after "p"."""
    if p == 0:
        return "< 1e-308"
    return f"= {p:.2g}" if p < 0.001 else f"= {p:.3f}"


def cell_text(one: Observed, narrow: bool = False) -> str:
    """A sign and r, or the sign alone; narrow: without the 0 before the point."""
    sign = SIGNS[one.verdict]
    if one.r is None:
        return sign
    r = f"{one.r:.3f}".replace("-", MINUS)
    return f"{sign} {r.replace('0.', '.') if narrow else r}"


def _scope(name: str, observed: Sequence[Observed], console: Console) -> None:
    console.print()
    console.print(Rule(Text(name, style="bold"), align="left", characters="─", style="dim"))
    columns = letters(observed)
    narrow = len(columns) > MOST_WIDE
    table = Table(box=None, padding=(0, 1, 0, 0 if narrow else 1), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True, min_width=4)
    for letter in columns:
        table.add_column(letter, no_wrap=True, justify="right", min_width=7)
    for group, cells in by_group(observed).items():
        shown = [cells.get(letter) for letter in columns]
        table.add_row(
            group, *(Text(LEVELS[one.relationship.predicted], "dim") if one else "" for one in shown)
        )
        table.add_row(
            "", *(Text(cell_text(one, narrow), STYLES[one.verdict]) if one else "" for one in shown)
        )
    console.print(table)
    console.print()
    for verdict, count in tally(observed).items():
        if count or verdict in (Verdict.EXACT, Verdict.CLOSE, Verdict.OFF):
            console.print(
                Text.assemble((SIGNS[verdict], STYLES[verdict]), f" {count:3d} {MEANINGS[verdict]}")
            )
    _remarks(observed, console)


def _remarks(observed: Sequence[Observed], console: Console) -> None:
    """Each that is off, by name; then what silenced others, and what else there is to know, each once."""
    for one in observed:
        if one.verdict is Verdict.OFF:
            console.print(_hanging("✗", f"{one.relationship.name}: {describe(one)}", "red"))
    for verdict, said in (
        (Verdict.NON_VARYING, "the same in every QE"),
        (Verdict.MISSING, "never measured"),
    ):
        names = sorted({name for one in observed if one.verdict is verdict for name in one.measures})
        if names:
            console.print(_hanging(SIGNS[verdict], f"{said}: {', '.join(names)}", "dim"))
    reasons: dict[str, list[str]] = {}
    for one in observed:
        if one.reason and not one.measures:
            reasons.setdefault(one.reason, []).append(one.relationship.name)
    for reason, cells in reasons.items():
        console.print(_hanging("*", f"{', '.join(cells)}: {reason}", "dim"))


def _hanging(sign: str, text: str, style: str) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column()
    grid.add_row(Text(sign, style), Text(text, style))
    return grid


def describe(one: Observed) -> str:
    """The relationship in words, and what was found."""
    of = one.relationship
    text = f"{of.cause_label} → {of.effect_label}, {of.predicted} predicted"
    if one.r is None or one.p is None:
        return f"{text}: {one.reason}"
    return f"{text}: r = {one.r:.3f} (p {p_text(one.p)}, {fixed(one.n, 0)} QEs)".replace("= -", f"= {MINUS}")
