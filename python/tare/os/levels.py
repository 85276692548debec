"""How much of the kernel a trace sees."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """How much is traced. `proc`: nothing, all figures are /proc's. `light`: no system calls, so other programs keep
    their fast path into the kernel."""

    PROC = "proc"
    LIGHT = "light"
    FULL = "full"
    MESSAGES = "messages"

    @property
    def has_calls(self) -> bool:
        return self in (Level.FULL, Level.MESSAGES)
