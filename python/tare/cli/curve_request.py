"""Options of `tare bench oltp curve`: rates, and the budget that a search keeps."""

from __future__ import annotations

import math

from tare.cli.values import long_enough
from tare.errors import UsageError
from tare.meant import meant
from tare.protocol.oltp.limit import Limit
from tare.protocol.oltp.precision import FEWEST_BATCHES

MOST_RATE = 100_000.0
"""Transactions a second that a curve may request. A TPC-C transaction costs the driver about 0.2 ms of CPU, so that
twenty CPUs would send no more."""

MOST_RATES = 500
LEAST_S = float(FEWEST_BATCHES)
"""Seconds that a step needs before its figures have intervals."""

LEAST_RATE = 10.0
"""Lowest candidate of a search that was given no rates."""

START_RATE = 100.0
FIGURES = ("p50", "p95", "p99", "p99.9", "mean")
_RATES = "--rates 100..2000:100, or --rates 100,200,400"
_BUDGET = "--find-limit p99=50ms"


def rates(text: str) -> tuple[float, ...]:
    """Rates from FIRST..LAST:STEP or a list, rising. Raises UsageError."""
    if ".." in text:
        found = _range(text)
    else:
        found = [_rate(part, text) for part in text.split(",")]
        if len(set(found)) < len(found):
            raise UsageError(
                f"--rates {text}: a rate is given twice", "use --repeats for several steps at a rate"
            )
    if len(found) > MOST_RATES:
        raise UsageError(
            f"--rates {text}: {len(found)} rates", f"give at most {MOST_RATES}; a larger step makes fewer"
        )
    return tuple(sorted(found))


def candidates(text: str | None, precision: float) -> tuple[tuple[float, ...], int]:
    """Rates among which a search chooses, and the place of the first. Raises UsageError."""
    if text is not None:
        found = rates(text)
        if len(found) < 2:
            raise UsageError(
                f"--rates {text}: a search needs two rates or more", "leave out --rates, or give a range"
            )
        return found, len(found) // 3
    steps = math.floor(math.log(MOST_RATE / LEAST_RATE) / math.log1p(precision))
    found = tuple(
        dict.fromkeys(_three_digits(LEAST_RATE * (1 + precision) ** step) for step in range(steps + 1))
    )
    return found, min(range(len(found)), key=lambda place: abs(found[place] - START_RATE))


def parse_limit(budget: str) -> Limit:
    """Budget from FIGURE=DURATION. Raises UsageError."""
    figure, equals, duration = (part.strip() for part in budget.partition("="))
    if not equals or not duration:
        raise UsageError(f"--find-limit {budget}: not FIGURE=DURATION", f"write {_BUDGET}")
    if figure not in FIGURES:
        raise UsageError(
            f"--find-limit {budget}: no figure {figure}",
            meant(figure, FIGURES, f"choose one of {', '.join(FIGURES)}"),
        )
    if _is_number(duration):
        raise UsageError(
            f"--find-limit {budget}: the duration has no unit", f"write one: {_BUDGET}, or p99=0.05s"
        )
    return Limit(figure, 1e3 * long_enough(duration, f"--find-limit {figure}"))


def precision(percent: str) -> float:
    """Share by which neighbouring candidates of a search differ. Raises UsageError."""
    text = percent.strip()
    try:
        value = float(text.removesuffix("%")) / 100 if text.endswith("%") else math.nan
    except ValueError:
        value = math.nan
    if not 0.005 <= value <= 1:
        raise UsageError(f"--precision {percent}: not a percentage from 0.5% to 100%", "write --precision 5%")
    return value


def _range(text: str) -> list[float]:
    ends, colon, step_text = text.partition(":")
    first, last = (_rate(part, text) for part in ends.split("..", 1))
    if not colon:
        raise UsageError(f"--rates {text}: the step is missing", f"write {_RATES}")
    step = _rate(step_text, text)
    if first > last:
        raise UsageError(
            f"--rates {text}: the range runs from high to low", f"write --rates {last:g}..{first:g}:{step:g}"
        )
    count = math.floor((last - first) / step + 1e-9) + 1
    if count > MOST_RATES:
        raise UsageError(
            f"--rates {text}: {count} rates", f"give at most {MOST_RATES}; a larger step makes fewer"
        )
    return [round(first + place * step, 6) for place in range(count)]


def _rate(part: str, text: str) -> float:
    try:
        value = float(part.strip().removesuffix("/s"))
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UsageError(
            f"--rates {text}: {part.strip() or 'nothing'} is not a rate",
            f"write transactions a second: {_RATES}",
        )
    if value > MOST_RATE:
        raise UsageError(
            f"--rates {text}: {value:g}/s is more than the driver sends", f"give at most {MOST_RATE:g}"
        )
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")
