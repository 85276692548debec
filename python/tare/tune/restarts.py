"""Arms whose settings need a restart: clones of the server, each started under an arm on a fresh copy of the data.

The server itself stands still while its data are copied once, and is not changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from types import TracebackType

from tare.dbms.servers.clones import Template, remove_clones, url_at
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed
from tare.interruption import deferred
from tare.tune.arms import Arm, differing
from tare.tune.journal import begin
from tare.tune.settings.connecting import connect
from tare.tune.settings.setting import ChangeFailed
from tare.tune.stage import Dropped


class Restarts:
    """Clones of a server for the length of a block. Whatever is left after kill -9 is in the journal."""

    def __init__(self, server: ServerRecord, url: str) -> None:
        """`url`: of the database that the load uses."""
        self._server = server
        self._url = url
        self.start_s = 0.0
        """Longest time from the copy of the data to a clone that takes connections."""

    def __enter__(self) -> Restarts:
        with deferred():
            self._path, self._lock = begin(self._url, (), self._server.directory)
        try:
            self._template = Template(self._server)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @contextmanager
    def under(self, arm: Arm) -> Iterator[str]:
        """The database's URL on a clone that runs with the arm's settings. Raises ServerFailed if it does not start,
        and ChangeFailed if it has other values."""
        began_s = time.monotonic()
        with self._template.clone(arm.settings) as clone:
            self.start_s = max(self.start_s, time.monotonic() - began_s)
            url = url_at(clone, self._url)
            with closing(connect(url)) as settings:
                found = differing(arm, settings.settings(tuple(arm.settings)))
            if found:
                values = ", ".join(f"{name} = {value}" for name, value in found.items())
                raise ChangeFailed(
                    f"under {arm.name} the server started with {values}", "choose values that it takes whole"
                )
            yield url

    def try_arms(self, arms: Sequence[Arm]) -> tuple[tuple[Arm, ...], tuple[Dropped, ...]]:
        """Start a clone under each arm. Returns the arms under which one starts, and the others."""
        taken, dropped = [], []
        for arm in arms:
            try:
                with self.under(arm):
                    taken.append(arm)
            except (ServerFailed, ChangeFailed) as failed:
                dropped.append(Dropped(arm, failed.what))
        return tuple(taken), tuple(dropped)

    # Inside ----------------------------------------------------------------------------
    def _end(self) -> None:
        """Remove the clones, then the journal: it stays if they could not be removed."""
        with deferred():
            try:
                remove_clones(self._server.directory)
                self._path.unlink(missing_ok=True)
            finally:
                os.close(self._lock)
