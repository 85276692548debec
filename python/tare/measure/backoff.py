"""Waiting for what went away: each pause is twice the one before (TTPv2 §3.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tare.interruption import Interrupts

MAX_TRIES = 10
"""After so many failures in a row the run is given up, or paused."""

FIRST_PAUSE_S = 0.04
"""Doubled nine times: a server has 20 s to come back while a user waits for the result."""

UNATTENDED_FIRST_PAUSE_S = 0.1
"""The same for an experiment, which nobody waits for: 51 s."""


def pause_s(failures: int, first_s: float = FIRST_PAUSE_S) -> float:
    """Seconds to wait after so many failures in a row, from 1 on."""
    return first_s * 2.0 ** (failures - 1)


@dataclass(frozen=True, slots=True)
class Patience:
    """Pauses between tries, reported through `say`; a signal ends them."""

    interrupts: Interrupts
    say: Callable[[str], None]
    first_pause_s: float = FIRST_PAUSE_S

    def wait(self, failures: int, failure: str) -> None:
        """Pauses after so many failures in a row. Raises Interrupted."""
        pause = pause_s(failures, self.first_pause_s)
        first_line = failure.partition("\n")[0]
        self.say(f"{first_line}; try {failures + 1} in {pause:.2g} s")
        self.interrupts.sleep(pause)
