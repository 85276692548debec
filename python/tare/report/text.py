"""The result for a terminal: per query the two views, what stands beside them, and what to do next.

Readable without colour: whatever colour says, a word or a sign says too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tare.protocol import measures
from tare.report import compare_text, lines
from tare.report.numbers import Scale, percent, scale_for, shown
from tare.report.result import MeasureResult, QueryResult, RunResult, WarningResult

BARS_FROM = 96  # columns of the terminal

INTERRUPTS_SEEN = 0.005  # of the CPU time
Row = tuple[str, MeasureResult]


def print_report(result: RunResult, console: Console) -> None:
    """Prints a whole result; 80 columns suffice."""
    everywhere = lines.missing_everywhere(result.results)
    for query in result.results:
        _query(query, everywhere, console)
    if result.comparison is not None:
        compare_text.print_comparison(result.comparison, console)
    _warnings(result.warnings, len(result.results) > 1, console)
    for label, why in everywhere:
        console.print(_hanging("–", f"{label}, in every query: {why}"))
    _ending(result, console)


def render(result: RunResult, width: int = 80) -> str:
    """The same as plain text, without colour."""
    out = io.StringIO()
    print_report(result, Console(file=out, width=width, color_system=None, force_terminal=False))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


# One query -------------------------------------------------------------------------------
def _query(query: QueryResult, everywhere: Sequence[tuple[str, str]], console: Console) -> None:
    console.print()
    title = Text.assemble((query.name, "bold"), f"  {lines.runs(query)}, {query.cache.asked}")
    console.print(Rule(title, align="left", characters="─", style="dim"))
    console.print(Text(lines.statement(query.sql), style="dim", overflow="ellipsis", no_wrap=True))
    if query.outcome == "failed":
        errors = [qe.error for qe in query.qes if qe.error]
        console.print(
            Text("no run was timed to its end" + (f": {errors[-1]}" if errors else ""), style="red")
        )
        return
    console.print()
    console.print(_table(query, bars=console.width >= BARS_FROM))
    _reasons(query, everywhere, console)
    console.print()
    _facts(query, console)
    _disturbers(query, console)
    _checks(query, console)


def _table(query: QueryResult, bars: bool) -> Table:
    wide = Table(box=None, padding=(0, 1), pad_edge=False, show_header=True, header_style="dim")
    wide.add_column("elapsed (the leader)", no_wrap=True, min_width=20)
    wide.add_column("median", justify="right", no_wrap=True)
    wide.add_column("", no_wrap=True)
    wide.add_column("95% interval", no_wrap=True)
    wide.add_column("rsd", justify="right", no_wrap=True)
    wide.add_column("of wall", justify="right", no_wrap=True)
    if bars:
        wide.add_column("", no_wrap=True)
    wall = query.measures.wall_ms
    _block(wide, _elapsed_rows(query), wall, bars)
    wide.add_row()
    processes = query.resources.processes.median or 0
    noun = "query process" if processes == 1 else "query processes"
    wide.add_row(Text(f"resources ({processes:g} {noun})", style="dim"))
    _block(wide, _resource_rows(query), None)
    wide.add_row()
    _block(wide, [("TTPv2 time", query.measures.ttp2_ms)], None)
    _block(wide, [("instructions:u", query.measures.instructions)], None)
    return wide


def _elapsed_rows(query: QueryResult) -> list[Row]:
    of = query.measures
    return [
        ("wall", of.wall_ms),
        ("= CPU", of.cpu_ms),
        ("    user ~", of.cpu_user_ms),
        ("    system ~", of.cpu_system_ms),
        *_interrupts(query),
        *((f"+ {m.label}", getattr(of, m.name)) for m in measures.PARTS[1:]),
        ("+ residue", of.residue_ms),
    ]


def _interrupts(query: QueryResult) -> list[Row]:
    """Shown where they took a share of the CPU time that a reader can see."""
    cpu, found = query.measures.cpu_ms.median, query.measures.interrupt_ms
    seen = cpu and found.median is not None and found.median >= INTERRUPTS_SEEN * cpu
    return [("    interrupts", found)] if seen else []


def _resource_rows(query: QueryResult) -> list[Row]:
    """The DBMS's other processes are shown where they did something."""
    rows = []
    for one in measures.RESOURCES:
        found: MeasureResult = getattr(query.resources, one.name)
        quiet = one.field.startswith("utility_") or one.unit == "bytes"
        if one.name == "processes" or (quiet and not found.median):
            continue
        label = f"    {one.label} ~" if one.sampled else f"  {one.label}"
        rows.append((label, found))
    return rows


def _block(table: Table, rows: Sequence[Row], wall: MeasureResult | None, bars: bool = False) -> None:
    """Rows whose times are in one unit, aligned at the decimal point."""
    scale = _common_scale([found for _, found in rows])
    ready = [(label, found, shown(found, scale if found.unit == "ms" else None)) for label, found in rows]
    places = max((_places(one.value) for _, _, one in ready), default=0)
    for label, found, one in ready:
        share = None
        if wall is not None and wall.median and found is not wall and found.median is not None:
            share = found.median / wall.median
        style = "bold" if label in ("wall", "TTPv2 time") else ""
        cells: list[Text | str] = [
            Text(label, style=style),
            Text(one.value + " " * (places - _places(one.value)), style=style),
            one.unit,
            Text(one.interval, style="dim"),
            one.rsd,
            "" if share is None else percent(share),
        ]
        if bars and share is not None and not label.startswith(" "):
            cells.append(Text(_bar(share), style="cyan"))
        table.add_row(*cells)


def _common_scale(found: Sequence[MeasureResult]) -> Scale:
    return scale_for("ms", [m.median for m in found if m.median is not None and m.unit == "ms"])


def _places(text: str) -> int:
    """Columns that the decimals take, with their point."""
    return len(text) - text.index(".") if "." in text else 0


def _bar(share: float) -> str:
    eighths = max(0, min(80, round(share * 80)))
    part: str = " ▏▎▍▌▋▊▉"[eighths % 8]
    return ("█" * (eighths // 8) + part).rstrip()


def _reasons(query: QueryResult, everywhere: Sequence[tuple[str, str]], console: Console) -> None:
    for label, why in lines.missing(query):
        if (label, why) in everywhere:
            continue
        console.print(_hanging("–", f"{label}: {why}"))
    for label, note in lines.notes(query):
        console.print(_hanging("*", f"{label}: {note}"))
    if query.measures.cpu_user_ms.median is not None:
        console.print(_hanging("~", "sampled split: only its sum, the CPU time, is exact"))


def _hanging(sign: str, text: str, style: str = "dim") -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column()
    grid.add_row(Text(sign, style=style), Text(text, style=style))
    return grid


def _facts(query: QueryResult, console: Console) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    grid.add_row("answer", Text(lines.answer(query.answer), style="" if query.answer.consistent else "red"))
    grid.add_row("plan", Text(lines.plan(query.plan), style="" if query.plan.consistent else "red"))
    grid.add_row("cache", Text(lines.cache(query.cache), style="red" if query.cache.reached is False else ""))
    console.print(grid)


def _disturbers(query: QueryResult, console: Console) -> None:
    if not query.disturbers:
        return
    console.print()
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("who ran meanwhile", no_wrap=True, min_width=22)
    table.add_column("role")
    table.add_column("run time a QE", justify="right", no_wrap=True)
    table.add_column("")
    for one in query.disturbers:
        name, role, time, near = lines.disturber(one)
        table.add_row(Text(name), role, time, Text(near, style="dim"))
    console.print(table)


def _checks(query: QueryResult, console: Console) -> None:
    console.print()
    judged = sum(check.judged > 0 for check in query.checks)
    failed = list(lines.failed_checks(query))
    silent = len(query.checks) - judged
    text = f"checks: {judged - len(failed)} of {judged} passed"
    console.print(Text(text + (f", {silent} could not be judged" if silent else ""), style="dim"))
    for check in failed:
        console.print(_hanging("✗", lines.check(check), "yellow"))


# The run -----------------------------------------------------------------------------------
def _warnings(warnings: Sequence[WarningResult], named: bool, console: Console) -> None:
    """Each with its query's name where there are several."""
    if not warnings:
        return
    console.print()
    for one in warnings:
        about = f" ({one.query})" if one.query and named else ""
        console.print(Text.assemble(("! ", "bold yellow"), (one.cause + about, "yellow")))
        console.print(Padding(Text(one.evidence), (0, 0, 0, 2)))
        console.print(Padding(Text.assemble(("next: ", "bold"), one.next_step), (0, 0, 0, 2)))


def _ending(result: RunResult, console: Console) -> None:
    if result.interrupted or result.error:
        console.print()
        why = result.error or "interrupted"
        console.print(
            Text(f"the run ended early: {why}; what is above is what had been measured", style="red")
        )
    console.print()
    for line in lines.environment(result.environment):
        console.print(Text(line, style="dim"))
