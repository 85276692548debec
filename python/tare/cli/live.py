"""Progress of a command: drawn on a terminal, a line now and then elsewhere. Always on standard error."""

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
"""Between two lines about what happens often."""

Event = TypeVar("Event")
Hear = Callable[[Event | None], None]
"""Takes what happens; None: nothing did meanwhile."""


class Drawn(ABC, Generic[Event]):
    """For eyes."""

    @abstractmethod
    def learn(self, event: Event) -> None: ...

    @abstractmethod
    def picture(self) -> Group:
        """Return the picture of all that was learnt."""


class Lines(Generic[Event]):
    """For logs. `line`: of an event, None where it is not worth one; `often`: kinds of events that have one now and
    then only; `anew`: whether the next of these has one at once where another kind came between."""

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
    """In one of the two ways, as standard error is; `quiet`: in neither."""
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
