"""Calls of the driver besides runs, and how a workload's conditions stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tare.errors import DriverFailed, TareError
from tare.workload.oltp.child import Driver
from tare.workload.oltp.request import Request
from tare.workload.oltp.told import CheckDone, Checked, Told

LOOK_S = 0.25

Hear = Callable[[Told | None], None]
"""Is called with each event, and with None when none has come for LOOK_S."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Held against the data."""

    checked: tuple[Checked, ...] = ()
    took_ns: int = 0

    @property
    def failing(self) -> tuple[Checked, ...]:
        return tuple(one for one in self.checked if one.failing)


class ConditionsFail(TareError):
    """The data do not satisfy the workload's conditions, and nothing was sent."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        names = ", ".join(one.name for one in conditions.failing)
        super().__init__(
            f"{len(conditions.failing)} of {len(conditions.checked)} conditions do not hold before the run: {names}",
            "load the data anew with --replace, or run all the same with --no-check",
        )


def carry_out(request: Request, hear: Hear) -> list[Told]:
    """All that was told of an action. Raises UsageError and DriverFailed; an interrupt ends it at once."""
    events: list[Told] = []
    with Driver(request) as driver:
        for event in driver.told(LOOK_S):
            hear(event)
            if event is not None:
                events.append(event)
    return events


def check(request: Request, hear: Hear) -> Conditions:
    """`request` is one to check."""
    events = carry_out(request, hear)
    return Conditions(tuple(all_of(events, Checked)), last_of(events, CheckDone).took_ns)


def all_of(events: list[Told], kind: type[T]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def last_of(events: list[Told], kind: type[T]) -> T:
    """Raises DriverFailed if there is none."""
    found = all_of(events, kind)
    if not found:
        raise DriverFailed(
            f"the driver ended without telling {kind.__name__}",
            "report it: its two halves do not fit together",
        )
    return found[-1]
