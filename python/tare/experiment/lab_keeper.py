"""The lab as the executor writes to it: each write is durable when it returns, and tried again while the
lab's server is away. A recorder's calls may be made twice: nothing is lost or doubled by it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

from tare.errors import LabLost
from tare.lab.hold import Hold
from tare.lab.recorder import Recorder
from tare.measure.backoff import MAX_TRIES, Patience

T = TypeVar("T")


class LabKeeper:
    def __init__(self, recorder: Recorder, hold: Hold, patience: Patience) -> None:
        self._recorder = recorder
        self._hold = hold
        self._patience = patience

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
                self._patience.wait(failures, error.what)
        raise AssertionError("unreachable")
