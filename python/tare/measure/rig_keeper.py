"""The rig of a run: opened again, with doubling pauses, when the server went away (TTPv2 §3.2.3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from tare.dbms.base import Session
from tare.errors import ConnectionFailed, ServerLost
from tare.measure.backoff import MAX_TRIES, Patience
from tare.measure.choices import Tier
from tare.measure.rig import Rig

T = TypeVar("T")
Connect = Callable[[], Session]


class RigKeeper:
    """Holds at most one rig. Its block closes it."""

    def __init__(
        self,
        connect: Connect,
        patience: Patience,
        tier: Tier | None = None,
        *,
        twins: Mapping[str, str] | None = None,
        revive: Callable[[], None] = lambda: None,
    ) -> None:
        """`revive` is called before each further try, to start a server that Tare itself runs. `twins`: see Rig."""
        self.opened = 0
        """Number of rigs opened so far: with each, caches are cold and what was prepared is gone."""
        self.renewed: Callable[[Session], None] = lambda session: None
        """Called with each session after the first, before it is used: what was set in the earlier one is gone."""
        self.current: Rig | None = None
        self._connect = connect
        self._patience = patience
        self._tier = tier
        self._twins = twins
        self._revive = revive

    @property
    def session_number(self) -> int:
        """Number, from 1, of the session that is open, else of the one that the next use opens."""
        return self.opened + (self.current is None)

    def open(self) -> Rig:
        """The rig, opened if none is. Tries once: raises what connecting and attaching raise."""
        if self.current is None:
            rig = Rig(self._connect, self._tier, twins=self._twins)
            rig.renewed = lambda session: self.renewed(session)
            self.current = rig
            self.opened += 1
            if self.opened > 1:
                self.renewed(rig.session)
        return self.current

    def with_rig(self, act: Callable[[Rig], T]) -> T:
        """Result of `act` with a rig, tried again while the server is away.

        Raises ServerLost after ten tries, Interrupted, and whatever else `act` raises."""
        return self._patiently(lambda: act(self.open()))

    def with_session(self, connect: Connect, act: Callable[[Session], T]) -> T:
        """The same with a session of its own. The rig is closed before, since DuckDB lets one process in."""
        self.close()
        return self._patiently(lambda: _in_session(connect, act))

    def close(self) -> None:
        if self.current is not None:
            rig, self.current = self.current, None
            rig.close()

    def __enter__(self) -> RigKeeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
                self._patience.wait(failures, error.what)
                self._revive()
        raise AssertionError("unreachable")


def _in_session(connect: Connect, act: Callable[[Session], T]) -> T:
    session = connect()
    try:
        return act(session)
    finally:
        with suppress(ServerLost):
            session.close()
