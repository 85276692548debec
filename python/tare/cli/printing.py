"""Standard output that cannot be written (a full disk, a closed handle) ends a command with a message."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn, TextIO


class Output:
    """Standard output as every command has it: its failures are ExportFailed. A reader that has gone is
    BrokenPipeError."""

    def __init__(self, stream: TextIO | None) -> None:
        """`stream` is None where the command was started with its output closed."""
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is None:
            self._failed(OSError(0, "it is closed"))
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            self._failed(error)

    def flush(self) -> None:
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            self._failed(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _failed(self, error: OSError) -> NoReturn:
        # What is still in the buffer would fail once more, aloud, when Python ends.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        from tare.errors import ExportFailed

        raise ExportFailed(
            f"standard output could not be written: {error.strerror}", "send it to a file on another disk"
        ) from error
