"""Counts of transactions by what became of them.

Generated from `crates/tare-load/src/oltp/counts.rs` by `make generated`: edit that file, not this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Role(StrEnum):
    """The part that a count plays in a sum."""

    ARRIVAL = "arrival"  # before the arrival has ended
    FINISHED = "finished"  # ended as the workload's specification has it
    FAILED = "failed"  # sent, and did not finish
    UNSENT = "unsent"  # never sent
    RETRY = "retry"  # a try beyond the first: no end


@dataclass(frozen=True, slots=True)
class Count:
    name: str  # of fields and columns
    role: Role
    words: str  # in reports
    end: str | None  # name in samples of the end that it counts
    meaning: str


class CountFields(BaseModel):
    """A field for each count; every arrival ends in exactly one of the ends, whose sum is `offered`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    offered: int
    started: int
    committed: int
    rolled_back: int
    deadlocks: int
    serialization_failures: int
    lock_timeouts: int
    lost: int
    errors: int
    shed: int
    unstarted: int
    retried_deadlock: int
    retried_serialization: int
    retried_lock_timeout: int


COUNTS = (
    Count(
        "offered",
        Role.ARRIVAL,
        "offered",
        None,
        "Arrivals that were due; in a closed loop, those that were started.",
    ),
    Count(
        "started",
        Role.ARRIVAL,
        "started",
        None,
        "Arrivals that were sent to the DBMS at least once.",
    ),
    Count(
        "committed",
        Role.FINISHED,
        "committed",
        "committed",
        "Committed.",
    ),
    Count(
        "rolled_back",
        Role.FINISHED,
        "rolled back",
        "rolled_back",
        "Rolled back, as the workload's specification has it.",
    ),
    Count(
        "deadlocks",
        Role.FAILED,
        "deadlocks",
        "deadlock",
        "The last try ended in a deadlock.",
    ),
    Count(
        "serialization_failures",
        Role.FAILED,
        "serialization failures",
        "serialization_failure",
        "The last try ended in a serialization failure.",
    ),
    Count(
        "lock_timeouts",
        Role.FAILED,
        "lock time-outs",
        "lock_timeout",
        "The last try ended in a lock time-out.",
    ),
    Count(
        "lost",
        Role.FAILED,
        "lost",
        "lost",
        "The connection broke; whether the transaction committed is not known.",
    ),
    Count(
        "errors",
        Role.FAILED,
        "errors",
        "error",
        "Any other error of the DBMS.",
    ),
    Count(
        "shed",
        Role.UNSENT,
        "shed",
        "shed",
        "Not sent, because it was too late.",
    ),
    Count(
        "unstarted",
        Role.UNSENT,
        "never started",
        "unstarted",
        "Not sent by the end of the drain.",
    ),
    Count(
        "retried_deadlock",
        Role.RETRY,
        "retries: deadlock",
        None,
        "Tries after a deadlock.",
    ),
    Count(
        "retried_serialization",
        Role.RETRY,
        "retries: serialization failure",
        None,
        "Tries after a serialization failure.",
    ),
    Count(
        "retried_lock_timeout",
        Role.RETRY,
        "retries: lock time-out",
        None,
        "Tries after a lock time-out.",
    ),
)
