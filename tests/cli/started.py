"""A command that runs in a fork, used as a `subprocess.Popen` is. The process that forked it reaps it."""

from __future__ import annotations

import io
import os
import select
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

PART = 1 << 16  # bytes


class Started:
    """`ended` receives the exit code, as a number in decimal digits."""

    def __init__(
        self,
        words: Sequence[str],
        pid: int,
        process: int,
        ended: socket.socket,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.args, self.pid, self.stdout, self.stderr = list(words), pid, stdout, stderr
        self.returncode: int | None = None
        # A descriptor of the process, unlike its id, names no other one after it has been reaped.
        self._process, self._ended = process, ended
        self._parts: dict[TextIO, list[bytes]] = {one: [] for one in (stdout, stderr) if one is not None}

    def __del__(self) -> None:
        os.close(self._process)
        self._ended.close()

    def poll(self) -> int | None:
        """Exit code, or a signal as a negative number, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            code = self._ended.recv(PART)
            assert code, "tests.cli.forks has ended: it said why on standard error"
            self.returncode = int(code)
        return self.returncode

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            signal.pidfd_send_signal(self._process, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read both streams to their ends, and wait. Called again, it returns the same."""
        until = None if timeout is None else time.monotonic() + timeout

        def left() -> float | None:
            return None if until is None else max(0.0, until - time.monotonic())

        with selectors.DefaultSelector() as streams:
            for stream, parts in self._parts.items():
                if not stream.closed:
                    streams.register(stream, selectors.EVENT_READ, parts)
            while streams.get_map():
                ready = streams.select(left())
                if not ready or left() == 0:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                for key, _ in ready:
                    part = os.read(key.fd, PART)
                    key.data.append(part)
                    if not part:
                        streams.unregister(key.fileobj)
        for stream in self._parts:
            stream.close()
        self.wait(left())
        return self._text(self.stdout), self._text(self.stderr)

    def _text(self, stream: TextIO | None) -> str:
        parts = [] if stream is None else self._parts[stream]
        return io.TextIOWrapper(io.BytesIO(b"".join(parts))).read()
