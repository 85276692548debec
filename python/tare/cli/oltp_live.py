"""A transactional run while it is made."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tare.cli import live
from tare.report.numbers import fixed, significant
from tare.report.oltp import words
from tare.workload.oltp.told import (
    Checked,
    Connected,
    Counts,
    LoadDone,
    Loading,
    Quick,
    Second,
    Started,
    Told,
    Trouble,
)

_WIDTH = 60  # seconds of a sparkline
_BARS = "▁▂▃▄▅▆▇█"


def shown(
    title: str, rate: float | None, seconds: float, *, quiet: bool
) -> AbstractContextManager[live.Hear[Told]]:
    """`rate`: asked of the run, at first; `seconds`: of its measured part; both may be 0 for what is no run."""
    lines = live.Lines(_line, (Second, Loading), anew=True)
    return live.shown(Drawn(title, seconds, rate), lines, quiet=quiet)


class Drawn(live.Drawn[Told]):
    def __init__(self, title: str, seconds: float, rate: float | None) -> None:
        self._title = title
        self._seconds = seconds
        self._rate = rate
        self._doing = "connecting"
        self._last: Second | None = None
        self._loading: Loading | None = None
        self._sum = Counts()
        self._trouble = ""
        self._held: deque[float] = deque(maxlen=_WIDTH)
        self._p99: deque[float] = deque(maxlen=_WIDTH)

    def learn(self, event: Told) -> None:
        match event:
            case Loading():
                self._loading, self._doing = event, f"loading {event.table}"
            case LoadDone():
                self._loading = None
            case Checked():
                self._doing = f"condition {event.name}: {_found(event)}"
            case Connected():
                self._doing = "warm-up"
            case Started():
                self._doing, self._sum = "measured", Counts()
            case Second():
                self._second(event)
            case Trouble():
                self._trouble = event.text

    def _second(self, one: Second) -> None:
        self._last = one
        self._doing = self._where(one.number)
        self._sum = self._sum + one.counts
        self._held.append(one.counts.finished)
        self._p99.append(one.response.p99 / 1e6 if one.response else 0.0)

    def _where(self, number: int) -> str:
        if number < 0:
            return "warm-up"
        if number >= self._seconds:
            return "drain"
        return f"{number + 1} of {self._seconds:g} s"

    def _held_rate(self, number: int) -> str:
        """Over all phases so far, in the measured part."""
        if not 0 <= number < self._seconds:
            return ""
        held = f"{self._sum.started / (number + 1):.1f}/s started"
        due = "" if self._rate is None else f" of {self._sum.offered / (number + 1):.1f}/s due"
        return f"{held}{due}: "

    # Drawing -----------------------------------------------------------------------------
    def picture(self) -> Group:
        head = Text.assemble((self._title, "bold"), f"  {self._doing}")
        if self._loading is not None:
            return Group(head, _bar(self._loading))
        return Group(head, self._table(self._last)) if self._last else Group(head)

    def _table(self, one: Second) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column()
        asked = "" if self._rate is None else f"{fixed(one.counts.offered, 0)} due, "
        table.add_row("this second", f"{asked}{fixed(one.counts.started, 0)} started, {_ended(one.counts)}")
        table.add_row("response, ms", _quick(one.response))
        table.add_row("service, ms", _quick(one.service))
        table.add_row("queue", f"{fixed(one.backlog, 0)} due and not started, {one.running} running")
        table.add_row("so far", f"{self._held_rate(one.number)}{_ended(self._sum)}{_retried(self._sum)}")
        table.add_row("tps", f"{_spark(self._held)}  {fixed(max(self._held), 0)} at most")
        table.add_row("p99", f"{_spark(self._p99)}  {significant(max(self._p99))} ms at most")
        if self._trouble:
            table.add_row("server said", Text(self._trouble, style="red", overflow="ellipsis", no_wrap=True))
        return table


def _line(event: Told) -> str | None:
    match event:
        case Second():
            return (
                f"{_when(event.number)}: {event.counts.started} started, {_ended(event.counts)}; response, ms: "
                f"{_quick(event.response)}; {event.backlog} due and not started"
            )
        case Loading():
            return f"loading {event.table}; {event.rows:,} of about {event.of:,} rows in all"
        case Checked() if event.failing:
            return f"condition {event.name}: {_found(event)}"
        case Connected():
            return f"connected to {event.server}, {event.isolation}; warm-up"
        case Started():
            return "measured part"
        case Trouble():
            return f"{event.at_ns / 1e9:.1f} s: {event.text}"
    return None


def _when(number: int) -> str:
    return f"{number + 1} s" if number >= 0 else "warm-up"


def _found(one: Checked) -> str:
    return f"does not hold in {words.rows(one.failing)}" if one.failing else "holds"


def _ended(counts: Counts) -> str:
    parts = [f"{fixed(counts.committed, 0)} committed"]
    if counts.rolled_back:
        parts.append(f"{fixed(counts.rolled_back, 0)} rolled back")
    parts += [
        f"{fixed(number, 0)} {words.COUNTS[name]}"
        for name in words.FAILED
        if (number := getattr(counts, name))
    ]
    return ", ".join(parts)


def _retried(counts: Counts) -> str:
    return f", {fixed(counts.retried, 0)} tried again" if counts.retried else ""


def _quick(quick: Quick | None) -> str:
    if quick is None:
        return "none ended"
    figures = {"p50": quick.p50, "p95": quick.p95, "p99": quick.p99, "max": quick.max}
    return "  ".join(f"{name} {significant(ns / 1e6)}" for name, ns in figures.items())


def _spark(values: deque[float]) -> str:
    top = max(values, default=0.0)
    if not top:
        return _BARS[0] * len(values)
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in values)


def _bar(loading: Loading) -> Table:
    grid = Table.grid(padding=(0, 2))
    share = f"{fixed(loading.rows, 0)} of about {fixed(loading.of, 0)} rows"
    grid.add_row(ProgressBar(total=max(1, loading.of), completed=loading.rows, width=40), share)
    return grid
