"""Lock for one run at a time on a database of this machine: two would make their tables under each other's QEs."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path

from tare.errors import DatabaseInUse


class DatabaseLock:
    """Held from here until `release`, or until this process ends in whatever way."""

    def __init__(self, folder: Path, database: str, name: str) -> None:
        """`database`: by which all runs know it, without a password; `name`: in messages. Raises DatabaseInUse."""
        self._file = folder / f"database-{hashlib.sha256(database.encode()).hexdigest()[:16]}.lock"
        while True:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._descriptor)
                raise DatabaseInUse(
                    f"another run of this machine is using the database of {name} ({database})",
                    "wait until it has ended or is paused, or give this experiment a database of its own",
                ) from None
            if self._is_the_file():
                return
            os.close(self._descriptor)

    def release(self) -> None:
        # While it is held: whoever has opened it meanwhile sees that it is gone, and makes a new one.
        self._file.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _is_the_file(self) -> bool:
        """Whether the file that is locked is still the one of that name."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._file.stat())
        except FileNotFoundError:
            return False
