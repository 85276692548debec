"""What protocols leave, for a terminal: TTPv2 Tables X to XIV, II and XVII, and each Q@C's time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
from tare.protocol.outcome import CheckCount, Level, Outcome, PostCheck
from tare.report.numbers import MINUS, decimals, fixed

MOST_TIMES = 40  # Q@Cs that are listed; --times writes all
LEVELS = {
    Level.EXPERIMENT: "experiment-wide: none may be violated",
    Level.QE: "QEs",
    Level.QATC: "Q@Cs, and adjacent ones",
}


def print_outcomes(
    outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]], console: Console
) -> None:
    """Prints each protocol, then all of them side by side; 80 columns suffice."""
    for outcome in outcomes:
        _outcome(outcome, fewer.get(outcome.protocol, ()), console)
    if len(outcomes) > 1:
        _side_by_side(outcomes, console)
    console.print()


def share_text(share: float | None) -> str:
    """A share in per cent, to two significant digits as TTPv2 §9 asks for."""
    if share is None:
        return "–"
    percent = 100 * share
    return f"{percent:.0f}%" if percent in (0, 100) else f"{percent:.{max(0, 1 - _power(percent))}f}%"


def _power(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _outcome(outcome: Outcome, fewer: Sequence[Fewer], console: Console) -> None:
    console.print()
    console.print(Rule(Text(outcome.title, style="bold"), align="left", characters="─", style="dim"))
    console.print(Text(outcome.citation, style="dim"))
    for level, meaning in LEVELS.items():
        _checks([one for one in outcome.checks if one.level is level], meaning, console)
    if outcome.stopped:
        console.print()
        console.print(Text(f"stopped: {outcome.stopped}", style="red"))
        return
    _remaining(outcome, console)
    if fewer:
        _fewer(fewer, console)
    _post(outcome.post, console)
    for dbms, of in outcome.coefficients.items():
        console.print()
        said = "  ".join(f"{name} = {value:.4g}" for name, value in of.items()).replace("-", MINUS)
        console.print(Text(f"regression of iowait, {dbms}: {said}"))
    for said in outcome.deviations:
        console.print(Text(f"deviation: {said}", style="yellow"))
    for name in outcome.accepted:
        console.print(Text(f"accepted although violated: {name}", style="yellow"))
    _times(outcome, console)


def _new(*columns: tuple[str, bool]) -> Table:
    """A bare table; `True` sets a column's numbers flush right."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for name, is_number in columns:
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def _checks(checks: Sequence[CheckCount], meaning: str, console: Console) -> None:
    if not checks:
        return
    table = _new(("", True), (meaning, False), ("violated", True), ("of", True), ("share", True))
    for one in checks:
        name = Text(one.name)
        if one.unjudged:
            name.append(f"\nnot judged{' in some' if one.judged else ''}: {one.unjudged}", style="dim")
        style = "red" if one.violations and one.level is Level.EXPERIMENT else ""
        table.add_row(
            str(one.number), name, Text(fixed(one.violations, 0), style=style), fixed(one.judged, 0),
            share_text(one.share),
        )  # fmt: skip
    console.print()
    console.print(table)


def _remaining(outcome: Outcome, console: Console) -> None:
    table = _new(("what is left", False), ("QEs", True), ("dropped", True), ("Q@Cs", True), ("dropped", True))
    for one in outcome.remaining:
        table.add_row(
            one.step, fixed(one.qes, 0), fixed(one.dropped_qes, 0), fixed(one.qatcs, 0),
            fixed(one.dropped_qatcs, 0),
        )  # fmt: skip
    console.print()
    console.print(table)


def _fewer(rows: Sequence[Fewer], console: Console) -> None:
    table = _new(("QEs of a Q@C", True), ("Q@Cs dropped", True), ("share", True), ("QEs retained", True))
    for one in rows:
        each = "–" if one.qes_per_retained_qatc is None else f"{one.qes_per_retained_qatc:.1f}"
        table.add_row(
            str(one.original_qes), fixed(one.dropped_qatcs, 0), share_text(one.share), each
        )  # fmt: skip
    console.print()
    console.print(table)


def _post(checks: Sequence[PostCheck], console: Console) -> None:
    table = _new(("", True), ("over the calculated times", False), ("found", True))
    for one in checks:
        value = (
            "–" if one.value is None else share_text(one.value) if one.unit == "share" else f"{one.value:.0f}"
        )
        name = Text(one.name)
        if one.unit == "count" and one.detail:
            name.append(f"\n{', '.join(one.detail)}", style="dim")
        if one.reason:
            name.append(f"\n{one.reason}", style="dim")
        table.add_row(str(one.number), name, value)
    console.print()
    console.print(table)


def _times(outcome: Outcome, console: Console) -> None:
    assert outcome.times is not None
    listed = outcome.times.order_by("run_id", "query_number", "cardinality").limit(MOST_TIMES + 1)
    found = rows(listed)
    several = len({row["dbms"] for row in found}) > 1
    table = _new(
        *((("DBMS", False),) if several else ()), ("query", False), ("rows", True), ("QEs", True),
        ("time, ms", True), ("sd", True), ("measured", True), ("", False),
    )  # fmt: skip
    for row in found[:MOST_TIMES]:
        if row["time_ms"] is None:
            time, sd, note = "–", "–", f"{row['step']}: {row['rule']}"
        else:
            places = decimals(row["time_ms"], row["sd_ms"])
            time = fixed(row["time_ms"], places)
            sd = "–" if row["sd_ms"] is None else fixed(row["sd_ms"], places)
            note = "faster with more rows" if row["strict"] else ""
        measured = "–" if row["measured_ms"] is None else fixed(row["measured_ms"], 1)
        names = (row["dbms"], row["query"]) if several else (row["query"],)
        table.add_row(*names, fixed(row["cardinality"], 0), str(row["qes"]), time, sd, measured, note)
    console.print()
    console.print(table)
    if len(found) > MOST_TIMES:
        console.print(Text(f"the first {MOST_TIMES} Q@Cs; --times FILE.csv writes them all", style="dim"))


def _side_by_side(outcomes: Sequence[Outcome], console: Console) -> None:
    table = _new(("", False), *((one.protocol, True) for one in outcomes))
    table.add_row("sanity checks", *(str(len(one.checks) + len(one.post)) for one in outcomes))
    table.add_row("Q@Cs retained", *(share_text(one.precision.retained_qatcs) for one in outcomes))
    table.add_row(
        "QEs per retained Q@C", *(_one_decimal(one.precision.qes_per_retained_qatc) for one in outcomes)
    )
    table.add_row(
        "relative error, measured", *(share_text(one.precision.relative_error_measured) for one in outcomes)
    )
    table.add_row(
        "relative error, calculated",
        *(share_text(one.precision.relative_error_calculated) for one in outcomes),
    )
    console.print()
    console.print(Rule(Text("side by side", style="bold"), align="left", characters="─", style="dim"))
    console.print(table)


def _one_decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
