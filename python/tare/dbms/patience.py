"""How long Tare waits for a statement in the query's session that no clock times: planning, preparing, set-up.

A session that waits for a lock, and a plan that takes a minute, are no lost connections. While the statement is
unanswered, the session asks the DBMS what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tare.errors import StillWaiting

LOOK_S = 2.0  # from one look to the next


@dataclass(frozen=True, slots=True)
class Wait:
    """Cause for which a session waits, in words, and what ends it."""

    what: str
    next_step: str


AT_WORK = Wait("the DBMS is at work on it", "simplify it")


class Patience:
    """Ends with the time-out of an execution, if that has one."""

    def __init__(self, look: Callable[[float], Wait]) -> None:
        """`look` finds what the session waits for, given the seconds since the statement was sent. It raises
        ServerLost if there is no answer to that either."""
        self.timeout_s: float | None = None
        self.report: Callable[[str], None] = lambda what: None
        """Receives what the session waits for, again and again."""
        self._look = look

    def next_look_s(self, elapsed_s: float, most_s: float) -> float:
        """Seconds until the next look, at most `most_s`."""
        left_s = 0.0 if self.timeout_s is None else self.timeout_s - elapsed_s
        return min(LOOK_S, most_s, left_s if left_s > 0 else LOOK_S)

    def look(self, elapsed_s: float, *, may_work_on: bool) -> None:
        """Reports what the session waits for. Raises StillWaiting at the time-out, and ServerLost.

        A set-up statement that is at work `may_work_on`; one that waits for a lock may not, either."""
        wait = self._look(elapsed_s)
        is_late = self.timeout_s is not None and elapsed_s >= self.timeout_s
        if is_late and not (may_work_on and wait is AT_WORK):
            raise StillWaiting(
                f"a statement was given up after the time-out of {self.timeout_s:g} s, before any clock: {wait.what}",
                f"{wait.next_step}, or allow more time with --timeout",
            )
        self.report(f"{wait.what} ({elapsed_s:.0f} s)")
