"""Last lines of a server's log before it went away: the cause of its end, which its clients never get."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

from tare.dbms.redaction import redacted_text
from tare.errors import ServerLost

_PATIENCE_S = 1.0  # a server writes of a process's end after the client has seen it
_PAUSE_S = 0.02
_READ_BYTES = 1 << 18  # from the end, at most
_MOST_LINES = 4
_MOST_CHARACTERS = 400  # of a line
_GRAVE = re.compile(r"\b(?:PANIC|FATAL|\[ERROR\])|\bsignal \d+|Assertion", re.IGNORECASE)
"""Lines worth quoting of a log in English, as Tare's own servers write it. Of other logs the last lines are quoted."""


class ServerLog:
    """The file that a server's standard error goes to, from now on."""

    def __init__(self, pid: int) -> None:
        """`pid` is any process of the server. Without a file, or a right to look, there is nothing to quote."""
        self.path: Path | None = None
        self._size = 0
        with suppress(OSError):
            path = Path(os.readlink(f"/proc/{pid}/fd/2"))  # noqa: PTH115 (a pipe is no path)
            if path.is_file():
                self.path, self._size = path, path.stat().st_size

    def quote(self, error: ServerLost) -> None:
        """Add the lines that the server has written since, and the file's name."""
        until = time.monotonic() + _PATIENCE_S
        lines = self._lines()
        while self.path and not any(map(_GRAVE.search, lines)) and time.monotonic() < until:
            time.sleep(_PAUSE_S)
            lines = self._lines()
        error.excerpt = "\n".join(f"  | {redacted_text(line)}" for line in lines)
        if self.path is not None:
            error.next_step = f"see {self.path} for what ended it, then run again"

    def _lines(self) -> list[str]:
        """Return the lines since then that report an end, else the last ones."""
        if self.path is None:
            return []
        try:
            with self.path.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - _READ_BYTES, self._size if self._size <= end else 0))
                text = file.read(_READ_BYTES).decode(errors="replace")
        except OSError:
            return []
        lines = [line[:_MOST_CHARACTERS] for line in text.splitlines() if line.strip()]
        grave = [line for line in lines if _GRAVE.search(line)]
        return grave[:_MOST_LINES] if grave else lines[-_MOST_LINES:]
