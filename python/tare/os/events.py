"""Progress of an observation, for the command that shows it. Never sent while a clock is running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tare.os.level import Level
from tare.os.record import Window


@dataclass(frozen=True, slots=True)
class Began:
    """The observation started at this level. `lacks`: reason for which it is no deeper one."""

    subject: str
    level: Level
    lacks: str | None


@dataclass(frozen=True, slots=True)
class Passed:
    """Time of a watch."""

    passed_s: float
    left_s: float | None  # None: until a signal or the end of the subject


@dataclass(frozen=True, slots=True)
class Executing:
    """The next execution. `number`: from 1, of `total`, warm-ups included."""

    query: str
    what: str  # "warm-up", "traced", "untraced", "from /proc"
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class WindowDone:
    """A window is complete."""

    window: Window


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """A query could not be run, or not as often as requested."""

    query: str
    error: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A signal ended the observation before its end."""

    interrupt: KeyboardInterrupt


Event: TypeAlias = Began | Passed | Executing | WindowDone | QueryFailed | Stopped
Hear: TypeAlias = Callable[[Event], None]
"""Receives progress events."""
