"""The journal of a tuning run: what its settings were, or whose clones it starts, on the disk before the first change.

A changed configuration outlives a restart of the machine, so journals lie in the user's state folder. A run is alive
as long as it holds the lock on its journal.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from tare.dbms.servers.clones import remove_clones
from tare.dbms.url import redacted
from tare.errors import TareError, UsageError
from tare.files import synced
from tare.interruption import deferred
from tare.journals import tuning_directory
from tare.tune.settings.connecting import connect
from tare.tune.settings.setting import Kept, SettingServer

FORMAT = 1
_NAME = "tune-*.journal"


class JournalFailed(TareError):
    """The journal cannot be written or read: no setting was changed."""


class Changes:
    """Changes of a server's settings; at the end of the block all are put back, and the journal goes.

    Signals wait while settings are put back."""

    def __init__(self, server: SettingServer, names: Sequence[str]) -> None:
        self._server = server
        self._names = tuple(dict.fromkeys(names))
        self._kept: tuple[Kept, ...] = ()
        self.path: Path | None = None
        self._lock = -1

    def __enter__(self) -> Changes:
        self._kept = self._server.keep(self._names)
        with deferred():
            self.path, self._lock = begin(self._server.url, self._kept)
        return self

    @property
    def baseline(self) -> dict[str, str]:
        """Values before any change, in the server's own unit."""
        return {setting.name: setting.value for setting in self._kept}

    def make(self, values: dict[str, str]) -> None:
        """Change settings; those of the journal that are not named return to what they were.

        Raises ChangeFailed, and UsageError for a name that the journal does not hold."""
        unknown = set(values) - set(self._names)
        if unknown:
            raise UsageError(f"the journal does not hold {', '.join(sorted(unknown))}", "name it first")
        with deferred():
            rest = [setting for setting in self._kept if setting.name not in values]
            if rest:
                self._server.put_back(rest)
            if values:
                self._server.change(values)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with deferred():
            try:
                _put_back(self._server, self._kept)
                if self.path is not None:
                    self.path.unlink(missing_ok=True)
            except TareError as failed:
                raise JournalFailed(
                    f"the settings of {redacted(self._server.url)} were not put back: {failed.what}",
                    "start the server if it is down, then: tare tune restore",
                ) from failed
            finally:
                if self._lock >= 0:
                    os.close(self._lock)


def _put_back(server: SettingServer, kept: Sequence[Kept]) -> None:
    """Through the session, or through a new session where it was lost."""
    try:
        server.put_back(kept)
    except TareError:
        again = connect(server.url)
        try:
            again.put_back(kept)
        finally:
            again.close()


# Journals on the disk ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Leftover:
    """The journal of a run that was killed."""

    path: Path
    url: str  # with its password
    kept: tuple[Kept, ...]
    cloned: Path | None  # directory of a server that the run made clones of


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of undoing a journal. `failure`: None if the server proved each value."""

    path: Path
    url: str  # without its password
    kept: tuple[Kept, ...]
    cloned: Path | None
    failure: str | None

    @property
    def what(self) -> str:
        """Name of what the run left, for a reader."""
        if self.cloned is not None:
            return f"clones of the server in {self.cloned}"
        return ", ".join(setting.name for setting in self.kept)


def leftovers() -> Iterator[Leftover]:
    """Journals of runs that are no longer alive. A torn journal belongs to a run that changed nothing, and goes."""
    for path in sorted(tuning_directory().glob(_NAME)) if tuning_directory().is_dir() else ():
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            found = _read(path)
            if found is None:
                path.unlink()
                continue
            yield found
        finally:
            os.close(lock)


def restore() -> tuple[Restored, ...]:
    """Put back what killed runs left. A journal stays until the server has proved every value."""
    return tuple(map(_restore, leftovers()))


def _restore(left: Leftover) -> Restored:
    failure: str | None = None
    try:
        if left.cloned is not None:
            remove_clones(left.cloned)
        if left.kept:
            with closing(connect(left.url)) as server:
                server.put_back(left.kept)
        left.path.unlink(missing_ok=True)
    except TareError as error:
        failure = error.what
    return Restored(left.path, redacted(left.url), left.kept, left.cloned, failure)


def begin(url: str, kept: Sequence[Kept], cloned: Path | None = None) -> tuple[Path, int]:
    """Write a journal and sync it; its path, and the descriptor that holds its lock. Raises JournalFailed."""
    try:
        folder = tuning_directory()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"tune-{os.getpid()}-{uuid.uuid4().hex[:8]}.journal"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            document = {
                "format": FORMAT,
                "url": url,
                "kept": [asdict(setting) for setting in kept],
                "cloned": None if cloned is None else str(cloned),
            }
            os.write(lock, json.dumps(document).encode() + b"\n")
            os.fsync(lock)
            with suppress(OSError):
                synced(folder)
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(lock)
            raise
        return path, lock
    except OSError as error:
        raise JournalFailed(
            f"the journal cannot be written in {tuning_directory()}: {error.strerror}",
            "make room or set XDG_STATE_HOME",
        ) from error


def _read(path: Path) -> Leftover | None:
    """None for a journal without its line's end. Raises JournalFailed for a journal of another version."""
    text = path.read_text()
    if not text.endswith("\n"):
        return None
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']}")
        kept = tuple(Kept(**setting) for setting in document["kept"])
        cloned = document.get("cloned")  # earlier versions made no clones
        return Leftover(path, document["url"], kept, None if cloned is None else Path(cloned))
    except (ValueError, KeyError, TypeError) as error:
        raise JournalFailed(
            f"the journal {path} cannot be read: {error}", "use the version of Tare that wrote it"
        ) from error
