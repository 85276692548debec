"""The curve drawn in characters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tare.report.charts.axes import around
from tare.report.kit.terminal import wrap
from tare.report.numbers import ms_text
from tare.report.oltp import words
from tare.report.oltp.curve.document import CurveReport
from tare.report.oltp.curve.points import Rate, figure_of, is_wide, rates

HEIGHT = 14
LABEL = 8  # columns of the labels of times
MOST_WIDTH = 120
_ONE_ARM = {"max": ("▲", "△"), "p50": ("•", "◦"), "p99": ("●", "○")}  # a later one is drawn over the others
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Mark = tuple[float, float, str]
"""Rate, ms and sign."""


def lines(report: CurveReport, width: int) -> list[str]:
    """None of them longer than `width`: response times over requested rate, both ends named, and how it is read."""
    found = rates(report)
    marks = list(_marks(report, found))
    if not marks:
        return wrap("No transaction ended in any step.", width)
    plot = min(width, MOST_WIDTH) - LABEL - 2
    low, high = around([ms for _, ms, _ in marks])
    top = math.log(high / low)

    def row(ms: float) -> int:
        return round((1 - math.log(ms / low) / top) * (HEIGHT - 1))

    column = _columns([rate.requested for rate in found], plot, wide=is_wide(report))
    grid = [[" "] * plot for _ in range(HEIGHT)]
    budget = report.limit.ms if report.limit else None
    if budget is not None and low < budget < high:
        grid[row(budget)] = ["┄"] * plot
    for rate in found:
        _draw_whisker(grid, rate, column, row, "p99")
    for requested, ms, sign in marks:
        grid[row(ms)][column(requested)] = sign
    labels = {row(ms): ms_text(ms) for ms in _ticks(low, high)}
    drawn = [
        f"{labels.get(place, ''):>{LABEL}} │{''.join(cells)}".rstrip() for place, cells in enumerate(grid)
    ]
    return [
        *drawn,
        f"{'':{LABEL}} └{'─' * plot}",
        *_rate_labels(found, column, plot),
        "",
        *wrap(_key(report), width),
    ]


def _marks(report: CurveReport, found: Sequence[Rate]) -> Iterator[Mark]:
    several = len(report.arms) > 1
    for figure in ("p99",) if several else _ONE_ARM:
        for rate in found:
            full, hollow = _signs(rate.arm) if several else _ONE_ARM[figure]
            for step in rate.steps:
                ms = figure_of(step, figure)
                if ms:
                    yield rate.requested, ms, full if step.is_result else hollow


def _signs(arm: int) -> tuple[str, str]:
    letter = _LETTERS[arm % len(_LETTERS)]
    return letter, letter.lower()


def _columns(requested: Sequence[float], plot: int, *, wide: bool) -> Callable[[float], int]:
    scale: Callable[[float], float] = math.log if wide else float
    low, high = scale(min(requested)), scale(max(requested))
    edge = 2
    if high == low:
        return lambda _: plot // 2
    return lambda rate: edge + round((scale(rate) - low) / (high - low) * (plot - 1 - 2 * edge))


def _draw_whisker(
    grid: list[list[str]],
    rate: Rate,
    column: Callable[[float], int],
    row: Callable[[float], int],
    figure: str,
) -> None:
    whisker = rate.whisker(figure)
    if whisker is None or whisker[0] <= 0:
        return
    first, last = sorted(min(HEIGHT - 1, max(0, row(ms))) for ms in whisker)
    for place in range(first, last + 1):
        grid[place][column(rate.requested)] = "│"


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    kept = [tick for tick in ticks if low <= tick <= high]
    return kept if len(kept) <= HEIGHT // 2 else [tick for tick in kept if f"{tick:e}"[0] == "1"]


def _rate_labels(found: Sequence[Rate], column: Callable[[float], int], plot: int) -> list[str]:
    """Return the rates that stand below the axis: as many as there is room for, the highest always."""
    cells = [" "] * (plot + LABEL + 2)
    highest = max(rate.requested for rate in found)
    taken: list[tuple[int, int]] = []
    for requested in [highest, *sorted({rate.requested for rate in found})]:
        text = words.rate(requested)
        start = min(max(0, LABEL + 2 + column(requested) - len(text) // 2), len(cells) - len(text))
        if all(start > end + 1 or start + len(text) < begin - 1 for begin, end in taken):
            cells[start : start + len(text)] = text
            taken.append((start, start + len(text)))
    return ["".join(cells).rstrip()]


def _key(report: CurveReport) -> str:
    if len(report.arms) > 1:
        arms = ", ".join(f"{_signs(arm)[0]} {found.label}" for arm, found in enumerate(report.arms))
        text = f"p99 of response time over requested rate: {arms}; small letters: no result"
    else:
        text = "Response time over requested rate: • median, ● p99, ▲ longest; hollow: no result"
    whisker = "; │ range of the p99 over repeats, or the 95% interval of a single step"
    return f"{text}{whisker}{'; ┄ limit' if report.limit else ''}."
