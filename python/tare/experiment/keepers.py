"""The rig and the lab as the executor holds them: each is tried again, with doubling pauses (§3.2.3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from tare.dbms.base import Session
from tare.errors import ConnectionFailed, LabLost, ServerLost, TareError
from tare.experiment.interrupts import Interrupts
from tare.experiment.target import Target
from tare.lab.hold import Hold
from tare.lab.recorder import Recorder
from tare.measure.backoff import MAX_TRIES, pause_s
from tare.measure.choices import Tier
from tare.measure.rig import Rig

FIRST_PAUSE_S = 0.1
"""Doubled nine times: a server has 51 s to come back."""

T = TypeVar("T")
Say = Callable[[str], None]


class RigKeeper:
    """Opens the rig again when the server of the DBMS went away."""

    def __init__(
        self,
        target: Target,
        tier: Tier | None,
        interrupts: Interrupts,
        say: Say,
        first_pause_s: float = FIRST_PAUSE_S,
        *,
        writes: bool = False,
        twins: Mapping[str, str] | None = None,
    ) -> None:
        """`writes`: the rig's session may change data. `twins`: see Rig."""
        self.opened = 0
        """How often a rig has been opened: with each, caches are cold and what was prepared is gone."""
        self._target = target
        self._tier = tier
        self._interrupts = interrupts
        self._say = say
        self._first_pause_s = first_pause_s
        self._writes = writes
        self._twins = twins
        self._rig: Rig | None = None

    def with_rig(self, act: Callable[[Rig], T]) -> T:
        """Return the result of `act` with a rig, tried again while the server is away.

        Raises ServerLost after ten tries, Interrupted, and whatever else `act` raises."""
        return self._patiently(lambda: act(self._opened()))

    def with_writer(self, act: Callable[[Session], T]) -> T:
        """The same with a session that may write; no rig is open meanwhile (DuckDB lets one process in)."""
        self.close()
        return self._patiently(lambda: self._write(act))

    def close(self) -> None:
        if self._rig is not None:
            rig, self._rig = self._rig, None
            rig.close()

    def _patiently(self, act: Callable[[], T]) -> T:
        for failures in itertools.count(1):
            try:
                return act()
            except (ServerLost, ConnectionFailed) as error:
                with suppress(ServerLost):
                    self.close()
                if failures == MAX_TRIES:
                    raise ServerLost(
                        f"the server went away and did not come back in {MAX_TRIES} tries: {error.what}",
                        error.next_step or "start the server again",
                    ) from error
                _rest(error, failures, self._first_pause_s, self._say, self._interrupts)
                self._target.revive()
        raise AssertionError("unreachable")

    def _opened(self) -> Rig:
        if self._rig is None:
            self._rig = Rig(
                lambda: self._target.connect(allow_writes=self._writes), self._tier, twins=self._twins
            )
            self.opened += 1
        return self._rig

    def _write(self, act: Callable[[Session], T]) -> T:
        session = self._target.connect(allow_writes=True)
        try:
            return act(session)
        finally:
            with suppress(ServerLost):
                session.close()


class LabKeeper:
    """The lab as the executor writes to it: each write is durable when it returns, and tried again while the lab's
    server is away. A recorder's calls may be made twice: nothing is lost or doubled by it."""

    def __init__(self, recorder: Recorder, hold: Hold, interrupts: Interrupts, say: Say) -> None:
        self._recorder = recorder
        self._hold = hold
        self._interrupts = interrupts
        self._say = say

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
                _rest(error, failures, FIRST_PAUSE_S, self._say, self._interrupts)
        raise AssertionError("unreachable")


def _rest(error: TareError, failures: int, first_pause_s: float, say: Say, interrupts: Interrupts) -> None:
    """Wait before the next try. Raises Interrupted."""
    pause = pause_s(failures, first_pause_s)
    say(f"{error.what.splitlines()[0]}; try {failures + 1} in {pause:.2g} s")
    interrupts.sleep(pause)
