"""A DBMS of a specification as its run reaches it: by URL, or started and stopped by Tare itself."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.dbms.servers.record import read as read_record
from tare.dbms.url import file_path, is_in_memory, redacted
from tare.errors import DatabaseInUse, ServerFailed, UsageError
from tare.experiment.specification import DbmsSpec
from tare.measure.machine.settings import journal_directory


class DatabaseLock:
    """Lock for one run at a time on a database of this machine: two would make their tables under each other's QEs.

    Held from here until `release`, or until this process ends in whatever way."""

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


_STARTS = {"postgresql": start_postgresql, "mariadb": start_mariadb}
_SUFFIX = {"sqlite": "db", "duckdb": "duckdb"}


def home(lab: str) -> Path:
    """Return the directory of data of this lab's DBMSes that Tare starts: next to it, so that they survive for
    `resume`; in the current folder for a lab on a server."""
    if lab.startswith("sqlite://"):
        return file_path(lab).absolute().with_suffix(".dbms")
    return Path.cwd() / "tare.dbms" if "://" in lab else Path(lab).absolute().with_suffix(".dbms")


class Target:
    """Within its block the DBMS runs, and no other run of this machine uses the same database."""

    def __init__(
        self,
        spec: DbmsSpec,
        place: Path,
        *,
        connect_timeout_s: float = 10.0,
        allow_restart: bool = False,
    ) -> None:
        """`place`: the DBMS's own, if Tare starts it: a folder, or a file's path without its suffix."""
        self.name = spec.name
        self._spec = spec
        self._place = place
        self._connect_timeout_s = connect_timeout_s
        self._allow_restart = allow_restart
        self._server: RunningServer | None = None
        self._lock: DatabaseLock | None = None
        self._entered = 0

    @property
    def known_url(self) -> str | None:
        """Also of a DBMS that does not run; None for a server of ours that has never been started."""
        if self._spec.url is not None:
            return self._spec.url
        if self._spec.start in _SUFFIX:
            return f"{self._spec.start}:///{self._file}"
        made = read_record(self._place.absolute())
        return made.url if made else None

    @property
    def url(self) -> str:
        """URL of the DBMS within the block."""
        assert self.known_url is not None
        return self.known_url

    @property
    def starts(self) -> str | None:
        """The kind of DBMS that Tare starts itself here."""
        return self._spec.start

    def __enter__(self) -> Target:
        """May be entered again within its block."""
        if not self._entered:
            self._hold()
            try:
                self._start()
            except BaseException:
                self._let_go()
                raise
        self._entered += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered -= 1
        if self._entered:
            return
        try:
            if self._server is not None:
                self._server.stop()
                self._server = None
        finally:
            self._let_go()

    def connect(self, *, allow_writes: bool = False) -> Session:
        return find(self.url).connect(
            self.url,
            timeout_s=self._connect_timeout_s,
            allow_writes=allow_writes,
            allow_restart=self._allow_restart,
        )

    def revive(self) -> None:
        """Starts a server of ours again if it died; whether it came is seen by connecting."""
        if self._server is not None:
            with suppress(ServerFailed):
                self._start()

    def _start(self) -> None:
        kind = self._spec.start
        if self._spec.url and is_in_memory(self._spec.url):
            file_path(self._spec.url)  # raises: several sessions use it
        if kind in _STARTS:
            self._server = _STARTS[kind](self._place)
        elif kind in _SUFFIX and not self._file.exists():
            make_file(self._file, kind)

    @property
    def _file(self) -> Path:
        return self._place.with_name(f"{self._place.name}.{_SUFFIX[str(self._spec.start)]}")

    def _hold(self) -> None:
        what = redacted(self._spec.url) if self._spec.url else str(self._place)
        self._lock = DatabaseLock(journal_directory(), what, self.name)

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def make_file(file: Path, kind: str) -> None:
    """An empty database; adapters open none that is not there. Raises UsageError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if kind == "duckdb":
            import duckdb

            duckdb.connect(str(file)).close()
        else:
            file.touch()
    except (OSError, ImportError) as error:
        raise UsageError(
            f"the database {file} cannot be made: {error}",
            "choose a folder that you may write to: --dir, or the path in --db",
        ) from error


def target_of(url: str, dbms: str, targets: Sequence[Target]) -> Target:
    """The one that a run was begun on, by what the lab knows of it: its URL (without a password) and the kind
    of DBMS. Raises UsageError if none fits."""
    for target in targets:
        if target.known_url is not None and redacted(target.known_url) == url:
            return target
    moved = [target for target in targets if target.starts == dbms]  # with its lab
    if len(moved) == 1:
        return moved[0]
    raise UsageError(
        f"no DBMS of the experiment's specification is the one that this run was begun on ({dbms}, {url})",
        "give --dir if the DBMSs that Tare starts keep their data elsewhere than beside the lab",
    )
