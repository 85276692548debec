"""An observation while it is made."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tare.cli import live
from tare.os.events import Began, Event, Executing, Passed, QueryFailed, Stopped, WindowDone
from tare.os.level import Level
from tare.os.record import Window
from tare.report.numbers import significant

_SHOWN = 6
"""Lines of the past that a terminal shows."""


def shown(title: str, *, quiet: bool) -> AbstractContextManager[live.Hear[Event]]:
    return live.shown(Drawn(title), live.Lines(_logged, (Passed, Executing), anew=False), quiet=quiet)


class Drawn(live.Drawn[Event]):
    """The current step with a bar, and below it the latest windows."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._doing = "looking at the processes"
        self._share: float | None = None
        self._past: list[str] = []

    def learn(self, event: Event) -> None:
        match event:
            case Passed():
                self._doing = line(event)
                if event.left_s is not None and event.passed_s + event.left_s > 0:
                    self._share = event.passed_s / (event.passed_s + event.left_s)
            case Executing():
                self._doing = line(event)
                self._share = (event.number - 1) / event.total
            case _:
                self._past.append(line(event))

    def picture(self) -> Group:
        bar = Table.grid(padding=(0, 2))
        if self._share is not None:
            bar.add_row(ProgressBar(total=1.0, completed=self._share, width=40))
        return Group(
            Text.assemble((self._title, "bold")),
            Text(self._doing),
            bar,
            *(Text(past, style="dim") for past in self._past[-_SHOWN:]),
        )


def _logged(event: Event) -> str | None:
    """Line of a log. Failures are reported at the end."""
    return None if isinstance(event, QueryFailed) else line(event)


def line(event: Event) -> str:
    match event:
        case Began():
            lacks = f" (no deeper one: {event.lacks})" if event.lacks and event.level is Level.PROC else ""
            return f"observing {event.subject} at level {event.level}{lacks}"
        case Passed():
            left = "" if event.left_s is None else f", {event.left_s:.0f} s left"
            return f"{event.passed_s:.0f} s observed{left}"
        case Executing():
            return f"{event.query}: execution {event.number} of {event.total}, {event.what}"
        case WindowDone():
            return _window(event.window)
        case QueryFailed():
            return f"{event.query} failed: {event.error}"
        case Stopped():
            return "interrupted: what was counted so far is kept"


def _window(window: Window) -> str:
    text = f"{window.name} {window.number + 1}: {significant(window.wall_ns / 1e6)} ms"
    if not window.roles:
        return f"{text}, untraced"
    on_cpu_ms = sum(role.times.on_cpu_ns for role in window.roles) / 1e6
    return f"{text}, {significant(on_cpu_ms)} ms on a CPU"
