"""Watches runs of a lab from another process: reports when an executor goes silent, pauses, or returns.

The paper's WATCHER (TTPv2 §7.1): the executor's heart-beats are outside all clocks, and this process sleeps
nearly always.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum

from tare.experiment.status import seconds_since
from tare.lab.progress import RunFacts
from tare.lab.run_ids import Kind, RunId
from tare.lab.states import RunState


class Event(StrEnum):
    SILENT = "silent"
    PAUSED = "paused"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Notice:
    """Notice to the user: once for each silence, and once when it is over."""

    event: Event
    run: str  # its id: e3
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
    """Run under watch. `reported`: the event that was last reported of it."""

    run_id: int
    silent_after_s: float
    reported: Event | None = None
    state: RunState | None = field(default=None)

    @property
    def over(self) -> bool:
        return self.state is RunState.DONE

    def look(self, run: RunFacts, lab: str) -> Notice | None:
        """Return a notice if the state of the run calls for one."""
        before, self.state = self.state, run.state
        silent_s = seconds_since(run.heartbeat_at) or 0.0
        event = self._event(run, silent_s, was_running=before is RunState.RUNNING)
        if event is None:
            return None
        self.reported = None if event is Event.RECOVERED else event
        run_id = str(RunId(Kind.EXPERIMENT, run.id))
        return Notice(
            event, run_id, run.uuid, run.experiment, run.dbms, run.state.value, run.said, run.heartbeat_at,
            round(silent_s, 3), lab,
        )  # fmt: skip

    def _event(self, run: RunFacts, silent_s: float, *, was_running: bool) -> Event | None:
        if run.state in (RunState.PAUSED, RunState.FAILED):
            return (
                Event.PAUSED if self.reported is not Event.PAUSED and (was_running or self.reported) else None
            )
        if run.state is RunState.RUNNING and silent_s > self.silent_after_s:
            return Event.SILENT if self.reported is not Event.SILENT else None
        return Event.RECOVERED if self.reported is not None else None
