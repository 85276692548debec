"""Standard output that cannot be written (a full disk, a closed handle) ends a command with a message."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tare.errors import ExportFailed


@contextmanager
def printing() -> Iterator[None]:
    """Around all that a command prints. Raises ExportFailed; a reader that has gone is BrokenPipeError."""
    try:
        if sys.stdout is None:
            raise OSError(0, "it is closed")
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still in the buffer would fail once more, aloud, when Python ends.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        raise ExportFailed(
            f"standard output could not be written: {error.strerror}", "send it to a file on another disk"
        ) from error
