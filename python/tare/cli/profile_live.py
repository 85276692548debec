"""A profile while it is made: drawn on a terminal, a line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tare.profile import told
from tare.profile.windows import PROBED
from tare.protocol.profile.found import Estimate, Findings, Overhead
from tare.report.numbers import MINUS, fixed, significant

EVERY_S = 10
"""Between two lines about windows where there is no terminal."""


class Shown(Protocol):
    def __enter__(self) -> Shown: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def hear(self, event: told.Told) -> None: ...


def shown(title: str, seconds: float, *, quiet: bool) -> Shown:
    """`seconds`: of all the profile."""
    console = Console(stderr=True)
    if quiet:
        return Silent()
    return Drawn(title, seconds, console) if console.is_terminal else Lines(console)


class Silent:
    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def hear(self, event: told.Told) -> None: ...


class Lines(Silent):
    """For logs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._due = 0.0

    def hear(self, event: told.Told) -> None:
        now = time.monotonic()
        often = isinstance(event, told.Window | told.Counting | told.Waiting)
        if not often or now >= self._due:
            self._console.print(Text(line(event)), soft_wrap=True)
            self._due = now + EVERY_S if often else self._due


class Drawn:
    """For eyes: what is going on, and below it what each round has found."""

    def __init__(self, title: str, seconds: float, console: Console) -> None:
        self._title = title
        self._seconds = seconds
        self._doing = "looking at the server"
        self._left = seconds
        self._rounds: list[str] = []
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Drawn:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def hear(self, event: told.Told) -> None:
        match event:
            case told.RoundDone() | told.Noted() | told.Counted():
                self._rounds.append(line(event))
            case told.Window():
                self._left = event.left_s
                self._doing = line(event)
            case _:
                self._doing = line(event)
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> Group:
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
            return f"{event.backend}: {event.says}; a transaction: {event.transaction}"
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
        case told.RoundDone():
            return _done(event)
        case told.Noted():
            return event.text


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
