"""The lab as the executor writes to it: each write is durable when it returns, and tried again while the
lab's server is away. A recorder's calls may be made twice: nothing is lost or doubled by it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

from tare.errors import LabLost
from tare.experiment.interrupts import Interrupts
from tare.experiment.rig_keeper import FIRST_PAUSE_S, Say
from tare.lab.hold import Hold
from tare.lab.recorder import Recorder
from tare.measure.backoff import MAX_TRIES, pause_s

T = TypeVar("T")


class LabKeeper:
    def __init__(
        self,
        recorder: Recorder,
        hold: Hold,
        interrupts: Interrupts,
        say: Say,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._recorder = recorder
        self._hold = hold
        self._interrupts = interrupts
        self._say = say
        self._first_pause_s = first_pause_s

    def write(self, act: Callable[[Recorder], T]) -> T:
        """Raises LabLost after ten tries, LabFull, RunHeld if the run was lost to another executor with
        the lab's server, or Interrupted."""
        for failures in itertools.count(1):
            try:
                self._hold.keep()
                return act(self._recorder)
            except LabLost as error:
                if failures == MAX_TRIES:
                    raise
                pause = pause_s(failures, self._first_pause_s)
                self._say(f"{error.what.splitlines()[0]}; try {failures + 1} in {pause:.2g} s")
                self._interrupts.sleep(pause)
        raise AssertionError("unreachable")
