"""Files outside the database that a query reads: Tare's word about a cold cache is mincore's, for each way to do it."""

from __future__ import annotations

import mmap
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tare._probe import residency
from tare.dbms.base import Leader, Session
from tare.dbms.registry import find
from tare.measure import qe as qe_module
from tare.measure import query_files
from tare.measure import weigh as weigh_module
from tare.measure.arms import Arm
from tare.measure.choices import CacheState
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.cache import prove
from tests.servers import let_servers_in

ROWS = 300_000


@dataclass(frozen=True)
class Way:
    """Makes a file of some megabytes, and names the set-up and the query that read it."""

    dbms: str
    make: Callable[[Path], None]
    setup: str
    sql: str


def _csv(path: Path) -> None:
    path.write_text("".join(f"{i},{i % 7},some text of row {i}\n" for i in range(ROWS)), encoding="ascii")


def _json(path: Path) -> None:
    path.write_text("".join(f'{{"a": {i}, "b": "row {i}"}}\n' for i in range(ROWS)), encoding="ascii")


def _parquet(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT hash(i) AS a, hash(i + 1) AS b FROM range({ROWS}) t(i)) TO '{path}' (FORMAT parquet)"
        )


def _duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT hash(i) AS a FROM range({3 * ROWS}) t(i)")


def _sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t AS SELECT 1 AS a, 'text' AS b WHERE 0")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ((i, f"some text of row {i}") for i in range(ROWS)))
    connection.commit()
    connection.close()


_FDW = (
    "CREATE EXTENSION IF NOT EXISTS file_fdw; CREATE SERVER IF NOT EXISTS files FOREIGN DATA WRAPPER file_fdw; "
    "DROP FOREIGN TABLE IF EXISTS outside; CREATE FOREIGN TABLE outside (a int, b int, c text) SERVER files "
)
WAYS = {
    "duckdb-parquet": Way("duckdb", _parquet, "", "SELECT sum(a % 9), sum(b % 9) FROM read_parquet('{file}')"),
    "duckdb-csv": Way("duckdb", _csv, "", "SELECT count(*), max(column2) FROM read_csv('{file}')"),
    "duckdb-json": Way("duckdb", _json, "", "SELECT max(b) FROM read_json('{file}')"),
    "duckdb-text": Way("duckdb", _csv, "", "SELECT length(content) FROM read_text('{file}')"),
    "duckdb-copy": Way(
        "duckdb", _csv, "CREATE TEMP TABLE outside (a int, b int, c varchar)", "COPY outside FROM '{file}'"
    ),
    "duckdb-attached": Way("duckdb", _duckdb, "ATTACH '{file}' AS o (READ_ONLY)", "SELECT sum(a % 9) FROM o.t"),
    "sqlite-attached": Way("sqlite", _sqlite, "ATTACH '{file}' AS o", "SELECT max(b) FROM o.t"),
    "sqlite-mapped": Way(
        "sqlite", _sqlite, "ATTACH '{file}' AS o; PRAGMA o.mmap_size = 100000000", "SELECT max(b) FROM o.t"
    ),
    "postgresql-file_fdw": Way(
        "postgresql15", _csv, _FDW + "OPTIONS (filename '{file}', format 'csv')", "SELECT max(c) FROM outside"
    ),
    "postgresql-program": Way(
        "postgresql15", _csv, _FDW + "OPTIONS (program 'cat {file}', format 'csv')", "SELECT max(c) FROM outside"
    ),
    "postgresql-pg_read_file": Way("postgresql15", _csv, "", "SELECT length(pg_read_file('{file}'))"),
    "postgresql18-pg_read_file": Way("postgresql", _csv, "", "SELECT length(pg_read_binary_file('{file}'))"),
    "mariadb-load_file": Way("mariadb", _csv, "", "SELECT length(load_file('{file}'))"),
}  # fmt: skip


class Observer:
    """Calls a function after each QE."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done

    def phase(self, query: Query, what: str) -> None: ...

    def done(self, query: Query, qe: QE) -> None:
        self._done()


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


@pytest.fixture(scope="module")
def file(way: Way, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = let_servers_in(tmp_path_factory.mktemp("outside"))
    path = folder / "outside.data"
    way.make(path)
    path.chmod(0o644)
    return path


def weigh(way: Way, url: str, file: Path, done: Callable[[], None] = lambda: None) -> list[QE]:
    """Two runs, `done` after each."""
    phases = Phases(setup=tuple(part for part in (way.setup.format(file=file),) if part))
    conditions = Conditions(runs=2, cache=CacheState.COLD, phases=phases)
    query = Query("q", way.sql.format(file=file))
    writes = "CREATE" in way.setup
    with Rig(lambda: find(url).connect(url, allow_writes=writes, allow_restart=True)) as rig:
        weigher = Weigher([Arm("A", rig, phases)], [query], conditions, lambda qes: False, Observer(done))
        weigher.check()
        weigher.one_after_another()
        return weigher.qes


@pytest.fixture
def resident(file: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Share of the file in memory as each clock starts, looked at by the test."""
    shares: list[float] = []
    read = qe_module._read

    def looked_at(*arguments: Any) -> Any:
        (found,) = residency([str(file)])
        shares.append(found.resident / found.pages)
        return read(*arguments)

    monkeypatch.setattr(qe_module, "_read", looked_at)
    return shares


@contextmanager
def in_memory(file: Path) -> Iterator[None]:
    """Pages that a process has mapped and touched are not evicted."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        sum(pages[at] for at in range(0, len(pages), mmap.PAGESIZE))
        yield


@pytest.fixture(params=["every open is reported", "descriptors alone"])
def sees_all(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the kernel reports opens: it does to root alone."""
    if request.param == "descriptors alone":
        monkeypatch.setattr(query_files, "OpenEvents", _refused)
        return False
    if os.geteuid():
        pytest.skip("fanotify needs root")
    return True


def _refused() -> None:
    raise PermissionError


def test_tares_word_is_mincores(
    way: Way, file: Path, sees_all: bool, resident: list[float], request: pytest.FixtureRequest
) -> None:
    """The file can be evicted before the first run, and is kept in memory from the end of that run on."""
    url = request.getfixturevalue(f"{way.dbms}_url")
    with ExitStack() as stack:
        qes = weigh(way, url, file, lambda: stack.enter_context(in_memory(file)))
    for qe, share, is_kept in zip(qes, resident, (False, True), strict=True):
        proof = prove([qe], CacheState.COLD)
        if sees_all:
            assert str(file) in proof.evidence
            assert share == 1 if is_kept else share < 0.05
            assert proof.reached is not is_kept, proof.evidence
        elif share < 0.05:
            assert proof.reached is not False, proof.evidence
        else:  # kept in memory, or opened and closed too quickly to be found
            assert proof.reached is not True, proof.evidence


@pytest.mark.parametrize(
    ("found", "executions"),
    [
        ([("a", "fanotify", True)], 1),
        ([("a", "fanotify", False), ("b", "fanotify", True)], 2),
        ([("a", "fanotify", False)] * 4, 3),
        ([("a", "descriptors", False)], 1),  # another execution would show no more
    ],
)
def test_files_are_sought_again_while_an_open_may_have_been_missed(
    found: list[tuple[str, str, bool]],
    executions: int,
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter(found)
    searches = []

    def search(session: Session, leader: Leader, execute: Callable[[], None]) -> query_files.QueryFiles:
        execute()
        name, how, complete = next(answers)
        searches.append(tmp_path / name)
        searches[-1].touch()
        return query_files.QueryFiles((searches[-1],), how, complete)

    monkeypatch.setattr(weigh_module, "find_files", search)
    way = Way("sqlite", _csv, "", "SELECT 1")
    qes = weigh(way, sqlite_url, tmp_path / "a")
    assert len(searches) == executions
    assert qes[0].residence
    assert {Path(file.path) for file in qes[0].residence.query_files} == set(searches)
