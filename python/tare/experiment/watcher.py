"""Watches runs of a lab from another process: tells when an executor goes silent, pauses, or is heard again.

The paper's WATCHER (TTPv2 §7.1): the executor's heart-beats are outside all clocks, and this process sleeps
nearly always.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum

from tare.experiment.status import seconds_since
from tare.lab.progress import RunFacts
from tare.lab.states import RunState


class Event(StrEnum):
    SILENT = "silent"
    PAUSED = "paused"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Notice:
    """Notice: one for each silence, and one when it is over."""

    event: Event
    run: int
    uuid: str
    experiment: str
    dbms: str
    state: str
    said: str | None  # why the run is paused
    heartbeat_at: str | None  # UTC
    silent_for_s: float
    lab: str  # without its password

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(slots=True)
class Watch:
    """A run under watch. `told`: the last notice about it."""

    run_id: int
    silent_after_s: float
    told: Event | None = None
    state: RunState | None = field(default=None)

    @property
    def over(self) -> bool:
        return self.state is RunState.DONE

    def look(self, run: RunFacts, lab: str) -> Notice | None:
        """Return a notice if there is something new to report."""
        before, self.state = self.state, run.state
        silent_s = seconds_since(run.heartbeat_at) or 0.0
        event = self._event(run, silent_s, was_running=before is RunState.RUNNING)
        if event is None:
            return None
        self.told = None if event is Event.RECOVERED else event
        return Notice(
            event, run.id, run.uuid, run.experiment, run.dbms, run.state.value, run.said, run.heartbeat_at,
            round(silent_s, 3), lab,
        )  # fmt: skip

    def _event(self, run: RunFacts, silent_s: float, *, was_running: bool) -> Event | None:
        if run.state in (RunState.PAUSED, RunState.FAILED):
            return Event.PAUSED if self.told is not Event.PAUSED and (was_running or self.told) else None
        if run.state is RunState.RUNNING and silent_s > self.silent_after_s:
            return Event.SILENT if self.told is not Event.SILENT else None
        return Event.RECOVERED if self.told is not None else None
