"""The states of a run and of a Q@C."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"  # can be resumed: by the user, after ten tries, or on a full disk
    DONE = "done"
    FAILED = "failed"  # a statement gave a wrong answer, or left something wrong behind


class QatCState(StrEnum):
    PENDING = "pending"  # to be timed; its QEs are not complete
    TIMED = "timed"
    SAME_PLAN = "same-plan"  # visited and not timed (OnePass)
    FAILED = "failed"  # recorded, and listed as missing; the run goes on
