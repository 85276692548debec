"""Causes for which a part of the timeline or a sum of resources was not measured, or not in full: facts, which
`tare.protocol.unmeasured` puts into words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Cause(StrEnum):
    """Kind of cause. A lab holds these words: they never change."""

    NO_TRACE = "no trace"
    TRACE_REJECTED = "trace rejected"  # it saw another number of switch-ins than the kernel counted
    SLEEP_UNKNOWN = "sleep unknown"  # the residue includes it
    NO_RUN_TIME = "no run time"
    NO_RUN_QUEUE = "no run queue"
    NO_THROTTLE = "no throttle"  # its control group has a quota, and its cpu.stat is not readable
    NO_DELAYS = "no delays"  # delay accounting is off
    BORN_BEFORE_DELAYS = "born before delays"
    IMPOSSIBLE_DELAY = "impossible delay"  # longer than all threads together can have waited
    UNREADABLE = "unreadable"
    UNSEEN_ENDS = "unseen ends"
    UNSEEN_LIVES = "unseen lives"  # between the snapshots
    PLANNING_INSIDE = "planning inside"  # of execution
    SHARED_PROCESS = "shared process"  # its other threads work for other connections, too
    HELPERS_UNCOUNTED = "helpers uncounted"  # other processes worked for the query, and have no counter
    LEADER_UNSEEN = "leader unseen"  # in both snapshots


@dataclass(frozen=True, slots=True)
class Lack:
    """A cause with its numbers."""

    cause: Cause
    detail: str = ""  # words of the kernel or the probe
    switch_ins: int | None = None  # traced
    slices: int | None = None  # as many, by the kernel's own count
    tasks: int | None = None
    counter: str = ""
    process: int | None = None  # None: the leader
    process_name: str = ""

    def as_json(self) -> dict[str, Any]:
        """Facts that are known, as a lab stores them."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}
