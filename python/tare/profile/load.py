"""A shell command that puts a load on a server while it is profiled."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from types import TracebackType
from typing import IO

from tare.dbms.redaction import redacted_text
from tare.errors import UsageError
from tare.profile import told

_STOP_S = 5.0
_LAST = 6
"""Lines of what it said that are repeated where it failed."""


class Load:
    """Runs within the block. As long as no transaction has come, a load that failed is started again: the server may
    not have been ready."""

    def __init__(self, command: str | None) -> None:
        if command is not None and not command.strip():
            raise UsageError("--load names no command", "give a shell command, or leave --load out")
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def __enter__(self) -> Load:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def hear(self, event: told.Told) -> None:
        """Receive an event of the profile. Raises UsageError where the load has failed for good."""
        if self._process is None:
            return
        code = self._process.poll()
        if isinstance(event, told.Waiting) and code is not None:
            if event.seconds > 30 and code != 0:
                raise UsageError(
                    f"--load {redacted_text(self._command or '')}: ended with exit code {code}: {self._last_lines()}",
                    "try it by hand against the running server",
                )
            self._stop()
            self._start()

    def _start(self) -> None:
        if self._command is None:
            return
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", self._command],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)  # a session of its own: the shell and all it started
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_STOP_S)
                    break
        if self._said is not None:
            self._said.close()
        self._process = self._said = None

    def _last_lines(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        return redacted_text(" / ".join(line.strip() for line in lines[-_LAST:] if line.strip()))
