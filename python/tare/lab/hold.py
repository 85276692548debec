"""Lock that admits one executor per run. The kernel or the server frees it when its holder dies."""

from __future__ import annotations

import hashlib
import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from sqlalchemy import Connection, select, text, update

from tare.errors import LabError, NoSuchRun, RunHeld
from tare.lab import filelock
from tare.lab.ids import experiment_id
from tare.lab.schema import run
from tare.lab.store import Lab

NEXT_STEP = "wait until it is done or end it, then `tare experiment resume`"


class Hold(ABC):
    """This process's claim on one run."""

    @abstractmethod
    def keep(self) -> None:
        """Takes the run again if the claim was lost with the lab's server. Call it before each QE and after a
        LabLost. Raises RunHeld if another has it by now, LabLost if the server is still away."""

    @abstractmethod
    def release(self) -> None: ...


@contextmanager
def held(lab: Lab, run_id: int) -> Iterator[Hold]:
    """Holds the run as long as the context lasts and the process lives. Raises RunHeld or NoSuchRun."""
    uuid, executor = _facts(lab, run_id)
    hold: Hold = _FileHold(lab, run_id, executor) if lab.is_sqlite else _ServerHold(lab, run_id, uuid)
    me = f"{socket.gethostname()}, pid {os.getpid()}, since {datetime.now(UTC).isoformat(timespec='seconds')}"
    try:
        _sign(lab, run_id, me)
        yield hold
    finally:
        with suppress(LabError):  # the lock is what counts
            _sign(lab, run_id, None, instead_of=me)
        hold.release()


def is_held(lab: Lab, run_id: int) -> bool:
    """Whether a living executor holds the run; looking takes no lock."""
    uuid, _ = _facts(lab, run_id)
    if lab.path is not None:
        return filelock.is_locked(lab.path, run_id)
    key = _key(uuid)
    with lab.reading() as connection:
        found = connection.scalar(
            text(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
                "AND (classid::bigint << 32 | objid::bigint) = :key"
            ),
            {"key": key},
        )
    return bool(found)


class _FileHold(Hold):
    """A byte of a file beside the lab: no server to lose it with."""

    def __init__(self, lab: Lab, run_id: int, executor: str | None) -> None:
        assert lab.path is not None
        try:
            self._lock = filelock.take(lab.path, run_id)
        except BlockingIOError:
            raise _refused(lab, run_id, executor) from None
        except OSError as error:
            raise LabError(
                f"run {experiment_id(run_id)} of {lab.where} cannot be held: {error.strerror}",
                "see that you may write to the lab's folder",
            ) from error

    def keep(self) -> None:
        return

    def release(self) -> None:
        self._lock.release()


class _ServerHold(Hold):
    """A session's advisory lock on the lab's server."""

    def __init__(self, lab: Lab, run_id: int, uuid: str) -> None:
        self._lab, self._run_id, self._key = lab, run_id, _key(uuid)
        self._connection: Connection | None = None
        self._take()

    def keep(self) -> None:
        if self._connection is not None:
            try:
                with self._lab.telling():
                    self._connection.execute(text("SELECT 1"))
                return
            except LabError:
                self.release()
        self._take()

    def release(self) -> None:
        if self._connection is not None:
            with suppress(Exception):  # a lost connection holds nothing any more
                # The server notices a closed connection a while later; let go of at once, it is free at once.
                self._connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": self._key})
            with suppress(Exception):
                self._connection.close()
            self._connection = None

    def _take(self) -> None:
        with self._lab.telling():
            connection = self._lab.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()  # never another's: closing it frees the lock
            try:
                got = connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": self._key})
            except BaseException:
                connection.close()
                raise
        if not got:
            connection.close()
            raise _refused(self._lab, self._run_id, _facts(self._lab, self._run_id)[1])
        self._connection = connection


def _key(uuid: str) -> int:
    """Return the key of a 64-bit lock, positive: two labs in one database never meet."""
    return int.from_bytes(hashlib.sha256(f"tare run {uuid}".encode()).digest()[:8]) >> 1


def _facts(lab: Lab, run_id: int) -> tuple[str, str | None]:
    with lab.reading() as connection:
        found = connection.execute(select(run.c.uuid, run.c.executor).where(run.c.id == run_id)).one_or_none()
    if found is None:
        raise NoSuchRun(
            f"the lab {lab.where} has no run {experiment_id(run_id)}",
            "`tare lab list` names those it has",
        )
    return found.uuid, found.executor


def _sign(lab: Lab, run_id: int, executor: str | None, instead_of: str | None = None) -> None:
    statement = update(run).where(run.c.id == run_id).values(executor=executor)
    if instead_of is not None:
        statement = statement.where(run.c.executor == instead_of)
    with lab.writing() as connection:
        connection.execute(statement)


def _refused(lab: Lab, run_id: int, executor: str | None) -> RunHeld:
    who = f"another executor ({executor})" if executor else "another executor"
    return RunHeld(f"run {experiment_id(run_id)} of {lab.where} is held by {who}", NEXT_STEP)
