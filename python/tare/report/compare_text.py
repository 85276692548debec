"""A comparison for a terminal: the verdict in a sentence, then the numbers that carry it."""

from __future__ import annotations

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tare.protocol import measures
from tare.report.comparison import TOTAL_CPU
from tare.report.numbers import MINUS, decimals, fixed, percent, scale_for
from tare.report.result import ComparisonResult, MeasureComparison, ShiftResult

LABELS = {
    measures.WALL.name: "wall time",
    measures.CPU.name: "CPU time",
    TOTAL_CPU: "CPU time of all processes",
    measures.INSTRUCTIONS.name: "instructions",
}
SHORT = {TOTAL_CPU: "all CPU", measures.INSTRUCTIONS.name: "instructions:u"}


def verdict(found: ComparisonResult) -> str:
    """One sentence about A and B, with the estimate and its interval."""
    chosen = found.measures[found.primary]
    label = LABELS[found.primary]
    if found.greater is not None:
        less = "A" if found.greater == "B" else "B"
        return f"{found.greater} costs more {label} than {less}: {_by(chosen)}"
    return f"no difference in {label} between A and B is established: {_by(chosen)}"


def _by(chosen: MeasureComparison) -> str:
    if chosen.ratio is not None:
        text = f"B takes {_times(chosen.ratio)} what A does"
    else:
        text = f"B − A = {_difference(chosen)}"
    return text if chosen.difference.ci95 else f"{text}; too few runs for an interval"


def _times(ratio: ShiftResult) -> str:
    if ratio.ci95 is None:
        return f"{ratio.estimate:.3g}×"
    low, high = ratio.ci95
    places = max(2, decimals(ratio.estimate, (high - low) / 2))
    return f"{ratio.estimate:.{places}f}× (95% interval {low:.{places}f} to {high:.{places}f})"


def change(ratio: ShiftResult) -> str:
    """The ratio as a change, with its interval: "+5.1% [+4.0%, +6.2%]"."""

    def signed(value: float) -> str:
        return f"{(value - 1) * 100:+.{places}f}%".replace("-", MINUS)

    width = (ratio.ci95[1] - ratio.ci95[0]) / 2 * 100 if ratio.ci95 else None
    places = min(2, decimals((ratio.estimate - 1) * 100, width))
    text = signed(ratio.estimate)
    return f"{text} [{signed(ratio.ci95[0])}, {signed(ratio.ci95[1])}]" if ratio.ci95 else text


def _difference(one: MeasureComparison) -> str:
    shift = one.difference
    scale = scale_for(one.unit, [shift.estimate, *(shift.ci95 or ())])
    width = (shift.ci95[1] - shift.ci95[0]) / 2 / scale.factor if shift.ci95 else None
    places = decimals(shift.estimate / scale.factor, width)
    text = fixed(shift.estimate / scale.factor, places)
    if shift.ci95:
        low, high = (fixed(bound / scale.factor, places) for bound in shift.ci95)
        text += f" [{low}, {high}]"
    return f"{text} {scale.unit}".rstrip()


def effect(delta: float) -> str:
    """Cliff's delta with the customary words for its size (Romano et al. 2006)."""
    size = abs(delta)
    word = "negligible" if size < 0.147 else "small" if size < 0.33 else "medium" if size < 0.474 else "large"
    return f"{delta:+.2f} ({word})".replace("-", MINUS)


def p_value(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def print_comparison(found: ComparisonResult, console: Console) -> None:
    """Prints the comparison; 80 columns suffice."""
    console.print()
    console.print(Rule(Text("B against A", style="bold"), align="left", characters="─", style="dim"))
    for letter, name in (("A", found.a), ("B", found.b)):
        console.print(Text(f"{letter}  {name}", style="dim", overflow="ellipsis", no_wrap=True))
    console.print()
    console.print(Text(verdict(found), style="bold" if found.greater else ""))
    console.print()
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("change [95%]", no_wrap=True)
    table.add_column("difference [95%]", no_wrap=True)
    table.add_column("p", no_wrap=True)
    table.add_column("δ", no_wrap=True)
    for name, one in found.measures.items():
        mark = "→ " if name == found.primary else "  "
        table.add_row(
            mark + SHORT.get(name, LABELS[name]),
            change(one.ratio) if one.ratio else "–",
            _difference(one),
            p_value(one.mann_whitney_p),
            f"{one.cliffs_delta:+.2f}".replace("-", MINUS),
        )
    console.print(table)
    console.print(Text(_how(found), style="dim"))


def _how(found: ComparisonResult) -> str:
    a, b = found.measures[found.primary].runs
    text = f"{a} + {b} runs, interleaved in random order"
    if found.stop.rule:
        width = "unknown" if found.stop.half_width is None else f"±{percent(found.stop.half_width)}"
        ended = "reached" if found.stop.reached else "not reached"
        text += f"; asked to stop at {found.stop.rule}, {ended} ({width})"
    chosen = found.measures[found.primary]
    size = f"effect (→): Cliff's δ {effect(chosen.cliffs_delta)}, A12 {chosen.a12:.2f}"
    return f"{size}. {text}. The verdict is drawn from the 99% interval."
