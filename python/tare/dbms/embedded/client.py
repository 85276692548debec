"""The measuring side of a host process: start it, ask it, interrupt it, notice its death."""

from __future__ import annotations

import math
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import tare
from tare.dbms.patience import Patience
from tare.errors import QueryTimeout, ServerLost, TareError

CANCEL_S = 5.0  # how long a query may take to stop after its time-out
LEAVE_S = 2.0  # the same after Ctrl-C: then somebody waits
OWN_S = 30.0  # how long a request of our own (a plan, rows, …) may take: then the host is frozen
_PACKAGE_ROOT = Path(tare.__file__).resolve().parents[1]


class HostClient:
    def __init__(self, engine_module: str) -> None:
        ours, theirs = socket.socketpair()
        self._watch, watched = socket.socketpair()
        with theirs, watched:
            path = os.pathsep.join(filter(None, [str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH")]))
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tare.dbms.embedded.host",
                    engine_module,
                    str(theirs.fileno()),
                    str(watched.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # ours may be a pipe, which ends when we do
                pass_fds=(theirs.fileno(), watched.fileno()),
                env=os.environ | {"PYTHONPATH": path},
            )
        self._commands = Connection(ours.detach())
        self._poller = select.poll()
        self._poller.register(self._commands.fileno(), select.POLLIN)
        self._released: list[int] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def release(self, result: int) -> None:
        """A result is not wanted any more; the host hears of it with the next request."""
        self._released.append(result)

    def ask(self, operation: str, *arguments: Any) -> Any:
        """A request of our own: a host that does not answer it in time is ended, and lost."""
        try:
            return self.request(operation, *arguments, timeout_s=OWN_S)
        except QueryTimeout as error:
            raise self.silent() from error

    def ask_patiently(
        self, patience: Patience, operation: str, *arguments: Any, may_work_on: bool = False
    ) -> Any:
        """A request that works on the user's statement and may take as long as `patience` allows."""
        return self._asked(operation, arguments, lambda: self._wait_patiently(patience, may_work_on), None)

    def request(self, operation: str, *arguments: Any, timeout_s: float | None = None) -> Any:
        """Raises what the engine raised, QueryTimeout or ServerLost."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        return self._asked(operation, arguments, lambda: self._wait(deadline), timeout_s)

    def silent(self) -> ServerLost:
        """Ends a host that has not answered for OWN_S. Returns what is to be raised."""
        self._process.kill()
        return ServerLost(
            f"the engine's process {self._process.pid} has not answered for {OWN_S:g} s and was ended",
            "see whether it was stopped, or the machine is out of memory; samples taken so far are kept",
        )

    def _asked(
        self, operation: str, arguments: tuple[Any, ...], wait: Callable[[], bool], timeout_s: float | None
    ) -> Any:
        released, self._released = tuple(self._released), []
        try:
            self._commands.send((operation, released, arguments))
            answered = wait()
            if answered:
                succeeded, value = self._commands.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        except BaseException:  # Ctrl-C: leave a host that can be used, or none
            self._interrupt(LEAVE_S)
            raise
        if not answered:
            raise self._interrupted(timeout_s)
        if succeeded:
            return value
        assert isinstance(value, TareError)
        raise value

    def close(self, in_order: bool = False) -> None:
        """`in_order` lets the engine close its files first (DuckDB then merges its log into the database)."""
        if in_order:
            with suppress(TareError):
                self.request("close", timeout_s=CANCEL_S)
        self._watch.close()  # the host leaves at once
        self._commands.close()
        try:
            self._process.wait(CANCEL_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self, deadline: float | None) -> bool:
        """False when the deadline passed without an answer."""
        if deadline is None:
            return bool(self._poller.poll())
        while not self._poller.poll(max(0, math.ceil((deadline - time.monotonic()) * 1000))):
            if time.monotonic() >= deadline:
                return False
        return True

    def _wait_patiently(self, patience: Patience, may_work_on: bool) -> bool:
        began = time.monotonic()
        while not self._wait(time.monotonic() + patience.next_look_s(time.monotonic() - began, OWN_S)):
            patience.look(time.monotonic() - began, may_work_on=may_work_on)
        return True

    def _interrupt(self, wait_s: float) -> bool:
        """Stops what runs and takes its answer. False if the host had to be ended for it."""
        try:
            self._watch.send(b"i")
            if self._wait(time.monotonic() + wait_s):
                self._commands.recv()
                return True
        except (EOFError, OSError):
            pass
        self._process.kill()
        return False

    def _interrupted(self, timeout_s: float | None) -> TareError:
        shown = f"the query ran longer than its time-out of {timeout_s:g} s" if timeout_s else "time-out"
        if self._interrupt(CANCEL_S):
            return QueryTimeout(f"{shown} and was interrupted", "allow more time with --timeout")
        return QueryTimeout(
            f"{shown} and did not heed the interrupt: its process was ended", "allow more time with --timeout"
        )

    def _lost(self) -> ServerLost:
        try:
            status: int | None = self._process.wait(CANCEL_S)
        except subprocess.TimeoutExpired:
            status = None
        how = f"killed by signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        return ServerLost(
            f"the engine's process {self._process.pid} went away ({how})",
            "see whether memory ran out (`dmesg`); samples taken so far are kept",
        )
