"""The driver as a process of its own: its CPU time and memory are then the driver's and nobody else's.

It gets the request, which may hold a password, through its standard input. When that ends, so does the driver:
it never outlives us, however we end.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

import tare
from tare.dbms.conninfo import secrets_of
from tare.dbms.url import parse, scheme_of, scrubbed
from tare.errors import DriverFailed, UsageError
from tare.workload.oltp.events import LAST, ActionFailed, Event, read
from tare.workload.oltp.request import Request

COMMAND = (sys.executable, "-m", "tare.workload.oltp.driver")
END_S = 5.0  # for a driver that has reported its last event, or whose input has ended
_STDERR_LINES = 10
_READ_BYTES = 1 << 16
_OURS = ("TARE_DB", "TARE_LAB")  # URLs, perhaps with a password; the driver reads the request alone
_PACKAGE_ROOT = Path(tare.__file__).resolve().parents[1]


class Driver:
    """Within its block the driver runs. At the block's end it is gone."""

    def __init__(self, request: Request, command: Sequence[str] = COMMAND) -> None:
        self._request = request
        self._command = tuple(command)
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._over = False  # its last event has come
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)

    def __enter__(self) -> Driver:
        path = os.pathsep.join(filter(None, [str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH")]))
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # the terminal's Ctrl-C is ours to hear
                env={name: value for name, value in os.environ.items() if name not in _OURS}
                | {"PYTHONPATH": path},
            )
        except OSError as error:
            raise DriverFailed(
                f"the driver cannot be started: {error.strerror}", "see whether memory or processes ran out"
            ) from error
        self._listener = threading.Thread(
            target=self._listen, args=(_pipe(self._process.stderr),), daemon=True
        )
        self._listener.start()
        self._send(self._request.line())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        self._wait()
        self._listener.join(END_S)
        for pipe in (self._process.stdout, self._process.stderr):
            _pipe(pipe).close()

    @property
    def pid(self) -> int:
        return self._process.pid

    # Requests to it -----------------------------------------------------------------------
    def stop(self) -> None:
        """A run ends early, and tells what it measured. Safe in a signal's handler."""
        self._send(b"stop\n")

    def kill(self) -> None:
        """At once."""
        self._process.kill()

    def _send(self, line: bytes) -> None:
        pipe = _pipe(self._process.stdin)
        with suppress(BrokenPipeError, ValueError):  # it has gone: `events` says how
            while line:
                line = line[os.write(pipe.fileno(), line) :]

    # What it tells -------------------------------------------------------------------------
    def events(self, wait_s: float | None = None) -> Iterator[Event | None]:
        """Each event as it comes, to the last; None whenever `wait_s` have passed without one.

        Raises UsageError if the request was at fault, and DriverFailed."""
        while not self._over:
            line = self._line(wait_s)
            if line is None:
                yield None
                continue
            event = self._read(line)
            self._over = isinstance(event, LAST)
            if isinstance(event, ActionFailed):
                raise _failure(event)
            yield event

    def _line(self, wait_s: float | None) -> bytes | None:
        until = None if wait_s is None else time.monotonic() + wait_s
        pipe = _pipe(self._process.stdout).fileno()
        while not self._lines:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([pipe], [], [], left)[0]:
                return None
            part = os.read(pipe, _READ_BYTES)
            if not part:
                raise self._died()
            *whole, self._rest = (self._rest + part).split(b"\n")
            self._lines.extend(whole)
        return self._lines.popleft()

    def _read(self, line: bytes) -> Event:
        try:
            return read(line)
        except ValueError as error:
            shown = self._clean(line[:200].decode(errors="replace"))
            raise DriverFailed(
                f"the driver wrote a line that Tare does not understand: {shown}",
                "its two halves are of different versions: install Tare anew",
            ) from error

    # How it ended ----------------------------------------------------------------------------
    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(ValueError):  # closed at the end of the block
            for line in pipe:
                self._said.append(line.decode(errors="replace").rstrip())

    def _wait(self) -> int:
        try:
            return self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _died(self) -> DriverFailed:
        status = self._wait()
        self._listener.join(END_S)
        how = f"was ended by {_signal(-status)}" if status < 0 else f"ended with exit code {status}"
        said = self._clean("\n    ".join(self._said))
        return DriverFailed(
            f"the driver (process {self.pid}) {how} before it reported its result"
            + (f"; it said last:\n    {said}" if said else ""),
            "see whether memory ran out (`dmesg`); then run again: the server ends what was open"
            if status < 0
            else "run again; if it ends so once more, report it with what it said",
        )

    def _clean(self, text: str) -> str:
        url = self._request.url
        with suppress(UsageError):
            secrets = () if scheme_of(url) == "sqlite" else (parse(url).password, *secrets_of(url))
            return scrubbed(text.replace(url, "the database"), *secrets)
        return text.replace(url, "the database")


def _failure(event: ActionFailed) -> DriverFailed | UsageError:
    return (UsageError if event.usage else DriverFailed)(event.what, event.next)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
