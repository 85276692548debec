"""A lab, opened: a SQLite file, or a PostgreSQL database that several machines share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, Table, inspect, select, text

from tare.dbms.conninfo import connection_parameters, secrets_of, url_of
from tare.dbms.url import file_path, redacted, refuse_unescaped
from tare.errors import LabError, LabTooNew, NoSuchRun, UsageError
from tare.lab.engines import WRITES, postgresql_engine, sqlite_engine
from tare.lab.ids import IdKind, fitting, kind_of
from tare.lab.migrations import VERSION, VERSION_TABLE, migrate
from tare.lab.schema import run
from tare.lab.schema_oltp import oltp_run
from tare.lab.trouble import told

_TABLES = frozenset(oltp_run.metadata.tables)  # those of experiments too
_WHAT = {
    IdKind.EXPERIMENT: ("run", "`tare experiment run`"),
    IdKind.OLTP: ("transactional run", "`tare bench oltp run`"),
}
"""Name of each kind of run, and the command that makes one."""

_POSTGRESQL = ("postgresql://", "postgres://")
_MIGRATION_KEY = 0x74617265_6C616221  # advisory lock: two processes never migrate one lab at once
_SQLITE_MAGIC = b"SQLite format 3\0"


class Lab:
    """Connections to one lab. Close it, or use it as a context: then a SQLite lab is one file again."""

    def __init__(self, engine: Engine, where: str, path: Path | None, secrets: Sequence[str] = ()) -> None:
        self.engine = engine
        self.where = where  # without its password
        self.path = path  # of a SQLite lab, resolved
        self._secrets = tuple(secrets)

    @property
    def is_sqlite(self) -> bool:
        return self.path is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Block that reads one state of the lab, also while others write. Raises LabError."""
        asked: dict[str, Any] = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.telling(), self.engine.connect().execution_options(**asked) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Block of one transaction: on disk when the block ends, or without any trace.

        Raises LabError, LabFull or LabLost; after a LabLost the commit may have been done all the same.
        """
        with (
            self.telling(),
            self.engine.connect().execution_options(**{WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Block in which errors of the engine become LabErrors."""
        with told(self.where, self.path, self._secrets):
            yield

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_lab(where: str, *, create: bool = False) -> Lab:
    """A lab of this Tare's schema; an older one is migrated, and a new one made only if `create`.

    Raises LabTooNew, or LabError for what is no lab, damaged, or out of reach.
    """
    lab = _reach(where, create)
    try:
        _to_this_version(lab, create)
    except BaseException:
        lab.close()
        raise
    return lab


def find_runs(lab: Lab, asked: Sequence[str]) -> list[int]:
    """Numbers of experiments' runs from their ids or beginnings of uuids, in the order asked. Raises NoSuchRun."""
    known = _known(lab, run)
    return list(dict.fromkeys(_number(lab, one, known, IdKind.EXPERIMENT) for one in asked))


def find_oltp_run(lab: Lab, asked: str) -> int:
    """Number of a transactional run from its id or the beginning of its uuid. Raises NoSuchRun."""
    return _number(lab, asked, _known(lab, oltp_run), IdKind.OLTP)


def _known(lab: Lab, table: Table) -> list[tuple[int, str]]:
    with lab.reading() as connection:
        rows = connection.execute(select(table.c.id, table.c.uuid).order_by(table.c.id)).all()
    return [(row.id, row.uuid) for row in rows]


def _number(lab: Lab, asked: str, known: Sequence[tuple[int, str]], kind: IdKind) -> int:
    found = fitting(asked, known, kind)
    if len(found) == 1:
        return found[0]
    what, maker = _WHAT[kind]
    if found:
        raise NoSuchRun(f"{len(found)} {what}s of {lab.where} begin with {asked}", "give more of the id")
    if kind_of(asked) not in (None, kind):
        raise NoSuchRun(
            f"{asked} is no {what}{' of an experiment' if kind is IdKind.EXPERIMENT else ''}",
            f"their ids are {kind}1, {kind}2, …; `tare report {asked}` takes it",
        )
    if not known:
        raise NoSuchRun(
            f"the lab {lab.where} has no {what}s", f"make one with {maker}, or name another --lab"
        )
    raise NoSuchRun(f"the lab {lab.where} has no {what} {asked!r}", "`tare lab list` names those it has")


# Reaching it -----------------------------------------------------------------------
def _reach(where: str, create: bool) -> Lab:
    where = url_of(where)
    if where.startswith(_POSTGRESQL):
        refuse_unescaped(where)
        connection_parameters(where)
        return Lab(postgresql_engine(where), redacted(where), None, secrets_of(where))
    if "://" in where and not where.startswith("sqlite://"):
        raise UsageError(
            f"{redacted(where)} cannot be a lab",
            "name a file (--lab lab.db), or a PostgreSQL database (--lab postgresql://…)",
        )
    if "@" in where and ":" in where.partition("@")[0] and not Path(where).exists():
        raise UsageError(
            "the lab's name holds a user and a password, and no scheme",
            "write it as postgresql://user:…@host/db",
        )
    path = (file_path(where) if where.startswith("sqlite://") else Path(where)).resolve()
    _refuse_other_files(path, create)
    return Lab(sqlite_engine(path, create=create), str(path), path)


def _refuse_other_files(path: Path, create: bool) -> None:
    """Refuse a folder, a pipe and a text file: SQLite's own message is no help."""
    if not path.exists():
        if not create:
            raise LabError(
                f"there is no lab {path}",
                "name the lab with --lab; `tare experiment run`, `bench oltp run` and `lab import` make a new one",
            )
        if not path.parent.is_dir():
            raise LabError(
                f"there is no folder {path.parent} for the lab {path.name}",
                f"make it first: mkdir -p {path.parent}",
            )
        return
    if not path.is_file():
        raise LabError(f"{path} is not a file", "name the lab's file")
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_SQLITE_MAGIC))
    except OSError as error:
        raise LabError(
            f"the lab {path} cannot be read: {error.strerror}", "see that you may read and write it"
        ) from error
    if head and head != _SQLITE_MAGIC:
        raise LabError(
            f"{path} is damaged, or no lab: it is not a SQLite file",
            "take another copy of it, or begin a new lab with another --lab",
        )


# Its schema's version -----------------------------------------------------------------
def _to_this_version(lab: Lab, create: bool) -> None:
    with lab.reading() as connection:
        found = _version(connection)
        _refuse_foreign(lab, connection, found, create)
    if found == VERSION:
        return
    with lab.writing() as connection:
        if not lab.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_KEY})
        found = _version(connection)  # another process may have been faster
        if found != VERSION:
            _refuse_foreign(lab, connection, found, create)
            migrate(connection)


def _version(connection: Connection) -> str | None:
    """None where there is no lab yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    rows = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()
    return str(rows[0]) if len(rows) == 1 else ""


def _refuse_foreign(lab: Lab, connection: Connection, found: str | None, create: bool) -> None:
    if found is None:
        tables = set(inspect(connection).get_table_names())
        in_the_way = tables if lab.is_sqlite else tables & _TABLES
        if in_the_way:
            raise LabError(
                f"{lab.where} is no lab: it holds other tables ({', '.join(sorted(in_the_way)[:3])}, …)",
                "name another file or database with --lab",
            )
        if not create:
            raise LabError(
                f"{lab.where} is empty: there is no lab in it",
                "name the lab with --lab; `tare experiment run`, `bench oltp run` and `lab import` make a new one",
            )
        return
    if not (found.isascii() and found.isdigit() and len(found) == len(VERSION)):
        raise LabError(
            f"{lab.where} is damaged, or no lab: it names no schema version", "take another copy of it"
        )
    if found > VERSION:
        raise LabTooNew(
            f"the lab {lab.where} has schema {found}; this Tare knows {VERSION} and older",
            "update Tare (pip install --upgrade tare-db), or name another --lab",
        )
