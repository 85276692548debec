"""A profile while it is made."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tare.cli import live
from tare.profile import told
from tare.profile.windows import BARE, PROBED
from tare.protocol.profile.found import Estimate, Findings, Overhead
from tare.protocol.profile.measured import Measure
from tare.report.numbers import MINUS, fixed, significant


def shown(title: str, seconds: float, *, quiet: bool) -> AbstractContextManager[live.Hear[told.Told]]:
    """`seconds`: of all the profile."""
    lines = live.Lines(line, (told.Window, told.Counting, told.Waiting), anew=False)
    return live.shown(Drawn(title, seconds), lines, quiet=quiet)


class Drawn(live.Drawn[told.Told]):
    """The current step, and below it the results of each round."""

    def __init__(self, title: str, seconds: float) -> None:
        self._title = title
        self._seconds = seconds
        self._doing = "looking at the server"
        self._left = seconds
        self._rounds: list[str] = []

    def learn(self, event: told.Told) -> None:
        match event:
            case told.RoundDone() | told.Noted() | told.Counted() | told.Shed():
                self._rounds.append(line(event))
            case told.Window():
                self._left = event.left_s
                self._doing = line(event)
            case _:
                self._doing = line(event)

    def picture(self) -> Group:
        bar = Table.grid(padding=(0, 2))
        passed = max(0.0, self._seconds - self._left)
        bar.add_row(ProgressBar(total=self._seconds, completed=passed, width=40), f"{self._left:.0f} s left")
        return Group(
            Text.assemble((self._title, "bold")),
            Text(self._doing),
            bar,
            *(Text(one, style="dim") for one in self._rounds[-6:]),
        )


def line(event: told.Told) -> str:
    match event:
        case told.Watching():
            return (
                f"{event.backend}: {event.says}; a transaction: {event.transaction}; profiles for {event.seconds:.0f} "
                "s from the first transaction on; looks at the server before and after, and the report, take some 10 s "
                "more"
            )
        case told.Waiting():
            return f"no transaction for {event.seconds:.0f} s: waiting for a load"
        case told.Counting():
            return f"counting calls of {event.functions} functions, batch {event.batch} of {event.of}"
        case told.Counted():
            hot = f"; too hot for the budget: {_some(event.left_out)}" if event.left_out else ""
            return f"{_pace(event.rate, event.mean_ns)}; {event.functions} of the functions are called in them{hot}"
        case told.Window():
            watched = {PROBED: f"watching {event.functions} functions", BARE: "no probe is on, to compare"}
            doing = watched.get(event.purpose, "watching no function, to compare")
            return f"round {event.round}, window {event.number} of {event.of}: {doing}"
        case told.Shed():
            return _shed(event)
        case told.RoundDone():
            return _done(event)
        case told.Detached():
            return f"all probes are off: watching for {event.seconds:g} s that the server gets on"
        case told.Analysing():
            return f"putting together what was recorded so far ({event.megabytes:.0f} MB)"
        case told.Noted():
            return event.text


def _shed(event: told.Shed) -> str:
    figure = event.excess.figure
    what = "throughput" if event.excess.measure is Measure.THROUGHPUT else "latency"
    return (
        f"round {event.round}: probes cost {_points(figure.value)}% of {what} ({_points(figure.low)} to "
        f"{_points(figure.high)}) in {event.excess.pairs} pairs of windows, above the "
        f"{_points(event.excess.allowed)}% allowed: let go of {_some(event.functions)}; {event.left} functions stay"
    )


def _done(event: told.RoundDone) -> str:
    found = event.findings
    parts = [
        f"round {event.round}: {fixed(found.transactions, 0)} transactions, {_pace(event.rate, found.mean_ns)}"
    ]
    if first := _first(found):
        parts.append(first)
    if event.overhead is not None and event.overhead.latency is not None:
        parts.append(f"probes cost {_overhead(event.overhead, event.overhead.latency)}")
    return "; ".join(parts)


def _first(found: Findings) -> str:
    if not found.factors:
        return ""
    top = found.factors[0]
    return f"{' and '.join(top.names)} {100 * top.share.value:.0f}% of variance"


def _overhead(overhead: Overhead, latency: Estimate) -> str:
    low, high = _points(latency.low), _points(latency.high)
    return (
        f"{_points(latency.value)}% of latency ({low} to {high}), {100 * overhead.predicted:.1f}% predicted"
    )


def _points(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", MINUS)


def _pace(rate: float, mean_ns: float) -> str:
    return f"{significant(rate)} transactions/s of {significant(mean_ns / 1e6)} ms in the mean"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - 4
    return ", ".join(names[:4]) + (f" and {more} more" if more > 0 else "")
