"""Obeys requests to a run between two executions: pauses and waits, or ends it."""

from __future__ import annotations

from tare.errors import RunAborted, RunStopped
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.walk import Observer
from tare.interruption import Interrupts
from tare.lab.requests import Action, Request, last_id, mark_obeyed, waiting
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.measure.rig_keeper import RigKeeper

LOOK_S = 1.0
"""Between two looks for the end of a pause."""

PAUSED = "paused on request"


class Control:
    """Requests to one run that are made from now on; earlier ones were not meant for this executor."""

    def __init__(
        self,
        lab: Lab,
        run_id: int,
        keeper: LabKeeper,
        rigs: RigKeeper,
        interrupts: Interrupts,
        observer: Observer,
    ) -> None:
        self._lab = lab
        self._run_id = run_id
        self._keeper = keeper
        self._rigs = rigs
        self._interrupts = interrupts
        self._observer = observer
        self._seen = keeper.write(lambda _: last_id(lab, run_id))
        self._stop: list[Request] = []

    def between_executions(self) -> None:
        """Return at once without a request; after a pause, once the run is resumed, in a new session.

        Raises RunAborted, Interrupted, LabError."""
        requests = self._new()
        if not requests:
            return
        wanted = requests[-1].action
        if wanted is Action.ABORT:
            self._obeyed(requests)
            raise _aborted()
        if wanted is Action.STOP:
            self._stop = requests
        elif wanted is Action.PAUSE:
            self._pause(requests)
        else:
            self._obeyed([*self._stop, *requests])
            self._stop = []

    def between_queries(self) -> None:
        """Raises RunStopped as well, if the run is to end here."""
        self.between_executions()
        if self._stop:
            self._obeyed(self._stop)
            raise _stopped()

    def _pause(self, requests: list[Request]) -> None:
        self._rigs.close()  # what follows a pause is warmed up again
        self._keeper.write(lambda recorder: recorder.state(self._run_id, RunState.PAUSED, PAUSED))
        self._obeyed(requests)
        self._observer.say("paused on request")
        while True:
            self._interrupts.sleep(LOOK_S)
            self._keeper.write(lambda recorder: recorder.heartbeat(self._run_id))
            requests = self._new()
            if not requests or requests[-1].action is Action.PAUSE:
                continue
            self._obeyed(requests)
            wanted = requests[-1].action
            if wanted is Action.ABORT:
                raise _aborted()
            if wanted is Action.STOP:
                raise _stopped()
            self._keeper.write(lambda recorder: recorder.state(self._run_id, RunState.RUNNING))
            return

    def _new(self) -> list[Request]:
        """Requests that came since the last look."""
        found = list(self._keeper.write(lambda _: waiting(self._lab, self._run_id, self._seen)))
        if found:
            self._seen = found[-1].id
        return found

    def _obeyed(self, requests: list[Request]) -> None:
        self._keeper.write(lambda _: mark_obeyed(self._lab, requests))


def _stopped() -> RunStopped:
    return RunStopped("stopped on request", "continue with `tare experiment resume`")


def _aborted() -> RunAborted:
    return RunAborted("aborted on request", "begin a new run: `tare experiment run`")
