"""Tuples from the generator straight into a DBMS, through a named pipe: no file of them is ever there.

Either side may fail while the other waits for it. The generator holds the pipe open until it is through, whatever
happens to it, so that the DBMS always meets the end; and when the DBMS is through, the pipe is opened and
closed for it until the generator has noticed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from tare.errors import StatementFailed, TareError

_NOTICES_WITHIN_S = 0.05
_PREFIX = "tare-load-"


def piped(write: Callable[[Path], int], load: Callable[[Path], int]) -> int:
    """`write` writes into what `load` reads; what `load` took.

    Raises what `load` raises; if `write` was at fault, its TareError or StatementFailed."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        pipe = Path(folder) / "tuples.csv"
        os.mkfifo(pipe, 0o600)
        writer = _Writer(write, pipe)
        writer.start()
        try:
            taken = load(pipe)
        except TareError:
            writer.let_go()
            writer.complain()
            raise
        finally:
            writer.let_go()
        writer.complain()
        return taken


def _sweep() -> None:
    """Takes away the pipes of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


class _Writer(threading.Thread):
    def __init__(self, write: Callable[[Path], int], pipe: Path) -> None:
        super().__init__(name="tare-wisconsin-writer", daemon=True)
        self._write = write
        self._pipe = pipe
        self._over = threading.Event()
        self._fault: Exception | None = None

    def run(self) -> None:
        held = os.open(self._pipe, os.O_WRONLY)  # waits for the reader
        try:
            if not self._over.is_set():
                self._write(self._pipe)
        except Exception as error:  # another thread's to raise
            self._fault = error
        finally:
            os.close(held)

    def let_go(self) -> None:
        """The reader is through, or never came."""
        self._over.set()
        while self.is_alive():
            reader = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.join(_NOTICES_WITHIN_S)
            os.close(reader)

    def complain(self) -> None:
        """Raises what went wrong in writing, if it was not that the reader had gone."""
        fault = self._fault
        if fault is None or _was_left(fault):
            return
        if isinstance(fault, TareError):
            raise fault
        raise StatementFailed(
            f"the tuples could not be generated: {fault}", "report this as a bug"
        ) from fault


def _was_left(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__cause__
    return False
