"""Progress of a profile."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tare.cli import live
from tare.profile import told
from tare.profile.windows import PROBED
from tare.protocol.profile.measured import Measure
from tare.report.numbers import significant, thousands
from tare.report.profile.words import share, time


def shown(title: str, seconds: float, *, quiet: bool) -> AbstractContextManager[live.Hear[told.Told]]:
    """Show the progress of a profile that takes so many seconds."""
    lines = live.Lines(line, (told.Window, told.Counting, told.Waiting), anew=False)
    return live.shown(Drawn(title, seconds), lines, quiet=quiet)


class Drawn(live.Drawn[told.Told]):
    """The current step, and below it the results of each round."""

    def __init__(self, title: str, seconds: float) -> None:
        self._title = title
        self._seconds = seconds
        self._doing = "examining the server"
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
                f"{event.backend}: {event.says}; a transaction: {event.transaction}; profiling for {event.seconds:.0f} "
                "s from the first transaction on; examining the server before and after, and the report, take some "
                "10 s more"
            )
        case told.Waiting():
            return f"no transaction for {event.seconds:.0f} s: waiting for a load"
        case told.Counting():
            return f"counting calls of {event.functions} functions, batch {event.batch} of {event.of}"
        case told.Counted():
            hot = f"; too hot for the budget: {_some(event.left_out)}" if event.left_out else ""
            return f"{_pace(event.rate, event.mean_ns)}; {event.functions} of the functions are called in them{hot}"
        case told.Window():
            watched = f"{event.functions} functions" if event.purpose == PROBED else "no function, to compare"
            return f"round {event.round}, window {event.number} of {event.of}: watching {watched}"
        case told.Shed():
            return _shed(event)
        case told.RoundDone():
            return _done(event)
        case told.Detached():
            return f"all probes are removed: checking for {event.seconds:g} s that the server continues"
        case told.Analysing():
            return f"analysing the recording so far ({event.megabytes:.0f} MB)"
        case told.Noted():
            return event.text


def _shed(event: told.Shed) -> str:
    what = "throughput" if event.excess.measure is Measure.THROUGHPUT else "latency"
    return (
        f"round {event.round}: probes cost {share(event.excess.figure).text} of {what} in {event.excess.pairs} pairs "
        f"of windows, above the budget of {share(event.budget).text}: removed from {_some(event.functions)}; "
        f"{event.left} functions stay watched"
    )


def _done(event: told.RoundDone) -> str:
    found = event.findings
    parts = [
        f"round {event.round}: {thousands(found.transactions)} transactions, {_pace(event.rate, found.mean_ns)}"
    ]
    if found.factors:
        first = found.factors[0]
        parts.append(f"{' and '.join(first.names)} {share(first.share).text} of variance")
    if event.overhead is not None and event.overhead.latency is not None:
        cost, predicted = share(event.overhead.latency).text, share(event.overhead.predicted).text
        parts.append(f"probes cost {cost} of latency, {predicted} predicted")
    return "; ".join(parts)


def _pace(rate: float, mean_ns: float) -> str:
    return f"{significant(rate)} transactions/s of {time(mean_ns).text} in the mean"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - 4
    return ", ".join(names[:4]) + (f" and {more} more" if more > 0 else "")
