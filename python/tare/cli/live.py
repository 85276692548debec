"""Progress of a command on standard error: a picture on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

EVERY_S = 10
"""Seconds between two lines about frequent events."""

Event = TypeVar("Event")
Hear = Callable[[Event | None], None]
"""Receives events; None: nothing happened since the last call."""


class Drawn(ABC, Generic[Event]):
    """Progress as a picture."""

    @abstractmethod
    def learn(self, event: Event) -> None: ...

    @abstractmethod
    def picture(self) -> Group:
        """Picture of the events so far."""


class Lines(Generic[Event]):
    """Progress as lines of a log.

    `line`: text of an event, None for none; `often`: kinds of events that get a line from time to time only; `anew`:
    whether the next of these gets a line at once after an event of another kind."""

    def __init__(self, line: Callable[[Event], str | None], often: tuple[type, ...], *, anew: bool) -> None:
        self._line = line
        self._often = often
        self._anew = anew
        self._due = 0.0

    def next(self, event: Event) -> str | None:
        line = self._line(event)
        now = time.monotonic()
        often = isinstance(event, self._often)
        if line is None or (often and now < self._due):
            return None
        if often:
            self._due = now + EVERY_S
        elif self._anew:
            self._due = now
        return line


@contextmanager
def shown(drawn: Drawn[Event], lines: Lines[Event], *, quiet: bool) -> Iterator[Hear[Event]]:
    """Show progress as a picture where standard error is a terminal, else as lines; `quiet`: not at all."""
    console = Console(stderr=True)
    if quiet:
        yield lambda event: None
    elif console.is_terminal:
        # Rich's own refresh thread is off: it would wake up while something is measured.
        with Live(console=console, auto_refresh=False, transient=True) as live:

            def draw(event: Event | None) -> None:
                if event is not None:
                    drawn.learn(event)
                    live.update(drawn.picture(), refresh=True)

            yield draw
    else:

        def say(event: Event | None) -> None:
            if event is not None and (line := lines.next(event)) is not None:
                console.print(Text(line), soft_wrap=True)

        yield say
