"""Exit codes of a command that a signal ends."""

from __future__ import annotations

import signal

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP: handled as Ctrl-C is, so that the query is cancelled and what was weighed is kept."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    """A signal's own, where it is known which one came."""
    code: int = getattr(interrupt, "exit_code", INTERRUPTED)
    return code
