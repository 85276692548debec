"""Lock of a database of this machine: two runs would make their tables under each other's QEs.

Clients of one load share the lock; whoever makes or drops tables has it alone."""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import suppress
from pathlib import Path

from tare.errors import DatabaseInUse


class DatabaseLock:
    """Lock from here until `release`, or until this process ends in whatever way."""

    def __init__(self, folder: Path, database: str, name: str, *, shared: bool = False) -> None:
        """Take the lock, with `shared` beside others that share it.

        `database`: its name in all runs, without a password; `name`: in messages.

        Raises DatabaseInUse."""
        self._file = folder / f"database-{hashlib.sha256(database.encode()).hexdigest()[:16]}.lock"
        while True:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._descriptor)
                raise DatabaseInUse(
                    f"another run of this machine is using the database of {name} ({database})",
                    "wait until it has ended or is paused, or use another database",
                ) from None
            if self._is_the_file():
                return
            os.close(self._descriptor)

    def release(self) -> None:
        # Unlinked under the exclusive lock: a process that has opened it sees that it is gone, and makes a new one.
        # While others share the lock the file stays, and the last of them unlinks it.
        with suppress(BlockingIOError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _is_the_file(self) -> bool:
        """Whether the file that is locked is still the one of that name."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._file.stat())
        except FileNotFoundError:
            return False
