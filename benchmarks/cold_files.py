"""Tare's word about a cold page cache, over what mincore(2) says of each file that a query reads.

The ways to read a file: those outside the database (Parquet, CSV, JSON, text, attached databases, foreign tables,
COPY and LOAD DATA, LOAD_FILE, tables of another database), and those of the database itself that lie elsewhere or are
cached by the kernel alone (tablespaces, MyISAM, Aria, CSV, DATA DIRECTORY). For half of the executions of each way the
file may be evicted, for the other half it is mapped and touched, so that the kernel keeps it; planning is clocked in
half of each.

A word is right if it is "reached" exactly where the file was not in memory as the clock started, if the file is among
those that it is about, and if the bytes agree. Looked at again after the execution, a file that was evicted must be in
memory: the query has read it. `--only MySQL` takes the ways whose name begins so.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import duckdb

from benchmarks.aa_real import Silent
from benchmarks.common import Figure, arguments, report
from tare.dbms.registry import find
from tare.dbms.servers import start_mariadb, start_mysql, start_postgresql
from tare.errors import ServerFailed
from tare.measure.arms import Arm
from tare.measure.audit import Auditor
from tare.measure.choices import CacheState, Clocked
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE, Audit
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.cache import prove

VERSION = "15"  # Debian's, which has file_fdw
EVICTED = 0.02  # of a file, at most, that may be in memory where it is called evicted
SMALL = ("DuckDB: COPY", "SQLite: attached")
LIBRARY = ctypes.CDLL(None, use_errno=True)
LIBRARY.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)


@dataclass(frozen=True)
class Way:
    """`{file}` in `setup`, `sql` and `made` is the file that the query reads."""

    sql: str
    make: Callable[[Path, int], None] | None = None  # writes that file, of so many rows; None: `made` does
    made: str = ""  # statements that run once, with leave to write
    where: str = ""  # pattern of the file that `made` makes, in the server's directory
    setup: str = ""
    conclude: str = ""  # of a query that writes
    cache: CacheState = CacheState.LUKEWARM_OS  # COLD: the DBMS caches the file, too


def _csv(path: Path, rows: int) -> None:
    path.write_text("".join(f"{i},{i % 7},some text of row {i}\n" for i in range(rows)), encoding="ascii")


def _json(path: Path, rows: int) -> None:
    path.write_text(
        "".join(f"{json.dumps({'a': i, 'b': f'row {i}'})}\n" for i in range(rows)), encoding="ascii"
    )


def _parquet(path: Path, rows: int) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT hash(i) AS a, hash(i + 1) AS b FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
        )


def _duckdb(path: Path, rows: int) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT hash(i) AS a FROM range({3 * rows}) t(i)")


def _sqlite(path: Path, rows: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ((i, f"some text of row {i}") for i in range(rows)))
    connection.commit()
    connection.close()


def of_duckdb() -> Mapping[str, Way]:
    cold = CacheState.COLD
    into = "CREATE TEMP TABLE into_ (a int, b int, c varchar)"
    return {
        "Parquet": Way("SELECT sum(a % 9), sum(b % 9) FROM read_parquet('{file}')", _parquet, cache=cold),
        "CSV": Way("SELECT count(*), max(column2) FROM read_csv('{file}')", _csv, cache=cold),
        "JSON": Way(
            "SELECT max(b) FROM read_json('{file}', format = 'newline_delimited')", _json, cache=cold
        ),
        "text": Way("SELECT length(content) FROM read_text('{file}')", _csv, cache=cold),
        "bytes": Way("SELECT octet_length(content) FROM read_blob('{file}')", _csv, cache=cold),
        "COPY": Way("COPY into_ FROM '{file}'", _csv, setup=into, conclude="SELECT 1", cache=cold),
        "attached": Way(
            "SELECT sum(a % 9) FROM o.t", _duckdb, setup="ATTACH '{file}' AS o (READ_ONLY)", cache=cold
        ),
    }


def of_sqlite() -> Mapping[str, Way]:
    attach, sql, cold = "ATTACH '{file}' AS o", "SELECT max(b) FROM o.t", CacheState.COLD
    return {
        "attached": Way(sql, _sqlite, setup=attach, cache=cold),
        "mapped": Way(sql, _sqlite, setup=f"{attach}; PRAGMA o.mmap_size = 100000000", cache=cold),
    }


def of_postgresql(rows: int) -> Mapping[str, Way]:
    foreign = "DROP FOREIGN TABLE IF EXISTS outside; CREATE FOREIGN TABLE outside (a int, b int, c text) SERVER files "
    wrapper = "CREATE EXTENSION IF NOT EXISTS file_fdw; "
    wrapper += "CREATE SERVER IF NOT EXISTS files FOREIGN DATA WRAPPER file_fdw; "
    into = "CREATE TABLE IF NOT EXISTS into_ (a int, b int, c text)"
    table = f"AS SELECT i AS a, 'some text of row ' || i AS b FROM generate_series(1, {rows}) i"
    return {
        "file_fdw": Way(
            "SELECT max(c) FROM outside",
            _csv,
            made=f"{wrapper}{foreign} OPTIONS (filename '{{file}}', format 'csv')",
        ),
        "file_fdw, program": Way(
            "SELECT max(c) FROM outside",
            _csv,
            made=f"{wrapper}{foreign} OPTIONS (program 'cat {{file}}', format 'csv')",
        ),
        "pg_read_file": Way("SELECT length(pg_read_file('{file}'))", _csv),
        "pg_read_binary_file": Way("SELECT length(pg_read_binary_file('{file}'))", _csv),
        "COPY": Way("COPY into_ FROM '{file}' (FORMAT csv)", _csv, made=into, conclude="TRUNCATE into_"),
        "COPY, program": Way(
            "COPY into_ FROM PROGRAM 'cat {file}' (FORMAT csv)", _csv, made=into, conclude="TRUNCATE into_"
        ),
        "tablespace": Way(
            "SELECT max(b) FROM elsewhere",
            made=f"CREATE TABLESPACE place LOCATION '{{elsewhere}}'; CREATE TABLE elsewhere TABLESPACE place {table}",
            where="{elsewhere}/PG_*/*/*",
            cache=CacheState.COLD,
        ),
    }


def _of_mysql(series: str) -> Iterator[tuple[str, Way]]:
    """`series` gives a column `seq`."""
    table = f"SELECT seq AS a, concat('some text of row ', seq) AS b FROM {series}"
    sql, cold = "SELECT max(b) FROM {name}", CacheState.COLD
    yield (
        "LOAD_FILE",
        Way(
            "SELECT length(load_file('{file}'))",
            _csv,
            made="SET GLOBAL max_allowed_packet = 67108864",  # a longer file is not read
        ),
    )
    for engine, suffix, cache in (("MyISAM", "MYD", CacheState.LUKEWARM_OS), ("InnoDB", "ibd", cold)):
        name = f"other.{engine.lower()}"
        yield (
            f"{engine}, another database",
            Way(
                sql.format(name=name),
                made=f"CREATE DATABASE IF NOT EXISTS other; CREATE TABLE {name} ENGINE = {engine} {table}",
                where=f"data/other/{engine.lower()}.{suffix}",
                cache=cache,
            ),
        )
    columns = "(a int NOT NULL, b varchar(40) NOT NULL)"
    for way, name, made, where in (
        ("MyISAM", "mine", "mine ENGINE = MyISAM", "data/tare/mine.MYD"),
        (
            "MyISAM, DATA DIRECTORY",
            "far",
            "far ENGINE = MyISAM DATA DIRECTORY = '{elsewhere}'",
            "{elsewhere}/far.MYD",
        ),
        ("CSV", "csv", f"csv {columns} ENGINE = CSV; INSERT INTO csv", "data/tare/csv.CSV"),
    ):
        yield way, Way(sql.format(name=name), made=f"CREATE TABLE {made} {table}", where=where)


def of_mariadb(rows: int) -> Mapping[str, Way]:
    series = f"seq_1_to_{rows}"
    into = "CREATE TABLE into_ (a int, b int, c varchar(40)) ENGINE = MyISAM"
    table = f"SELECT seq AS a, concat('some text of row ', seq) AS b FROM {series}"
    ways = dict(_of_mysql(series))
    del ways["InnoDB, another database"]  # O_DIRECT: nothing of it is in the page cache
    return ways | {
        "LOAD DATA": Way(
            "LOAD DATA INFILE '{file}' INTO TABLE into_ FIELDS TERMINATED BY ','",
            _csv,
            made=into,
            conclude="TRUNCATE into_",
        ),
        "Aria": Way(
            "SELECT max(b) FROM aria",
            made=f"CREATE TABLE aria ENGINE = Aria {table}",
            where="data/tare/aria.MAD",
            cache=CacheState.COLD,
        ),
    }


def of_mysql(rows: int) -> Mapping[str, Way]:
    digit = "(SELECT 0 AS d" + "".join(f" UNION ALL SELECT {d}" for d in range(1, 10)) + ")"
    number = " + ".join(f"{10**place} * d{place}.d" for place in range(6))
    return dict(
        _of_mysql(
            f"(SELECT 1 + {number} AS seq FROM "
            + ", ".join(f"{digit} d{place}" for place in range(6))
            + f") s WHERE seq <= {rows}"
        )
    )


def in_memory(file: Path) -> int:
    """Bytes of the file that are in the page cache, by mincore(2)."""
    size = file.stat().st_size
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), size) as pages:
        start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        resident = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        if LIBRARY.mincore(start, size, resident) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in resident.raw) * mmap.PAGESIZE


@contextmanager
def kept(file: Path) -> Iterator[None]:
    """Pages that a process has mapped and touched are not evicted."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        for at in range(0, len(pages), mmap.PAGESIZE):
            pages[at]
        yield


class Looker(Auditor):
    """Looks at a file where an audit reads its trace: just before and after each execution."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.before: list[int] = []
        self.after: list[int] = []
        self._file = file

    def begin(self, rig: Rig) -> None:
        self.before.append(in_memory(self._file))

    def end(self) -> None:
        self.after.append(in_memory(self._file))

    def judge(self, rig: Rig, clock_1: int, clock_2: int, processes: object) -> Audit:
        return Audit(False, "the page cache is looked at instead")


def words(url: str, way: Way, file: Path, runs: int, clocked: Clocked, *, is_kept: bool) -> Sequence[bool]:
    """Return whether each of Tare's words is right."""
    setup = tuple(filter(None, (way.setup.format(file=file),)))
    phases = Phases(setup=setup, conclude=tuple(filter(None, (way.conclude,))))
    conditions = Conditions(runs=runs, warmup=0, cache=way.cache, phases=phases, clocked=clocked)
    looker = Looker(file)
    with (
        kept(file) if is_kept else nullcontext(),
        Rig(lambda: find(url).connect(url, allow_writes=bool(way.conclude), allow_restart=True)) as rig,
    ):
        rig.auditor = looker
        query = Query("reads", way.sql.format(file=file))
        weigher = Weigher([Arm("A", rig, phases)], [query], conditions, lambda qes: False, Silent())
        weigher.check()
        weigher.one_after_another()
        own = {os.path.realpath(path) for path in rig.session.data_files()}
        looked = zip(weigher.qes, looker.before, looker.after, strict=True)
        return [is_right(qe, way.cache, file, str(file) in own, *seen) for qe, *seen in looked]


def is_right(qe: QE, cache: CacheState, file: Path, is_own: bool, before: int, after: int) -> bool:
    assert qe.residence
    size = file.stat().st_size
    outside = {Path(one.path).resolve(): one.resident_bytes for one in qe.residence.query_files}
    is_about = is_own or outside.get(file) == before
    is_evicted = before <= EVICTED * size
    was_read = after >= size / 2
    proof = prove([qe], cache)
    right = is_about and was_read and proof.reached is is_evicted
    if not right:
        print(
            f"    {proof.reached}: {proof.evidence}; mincore: {before} before, {after} after, of {size} bytes"
        )
    return right


def on(
    name: str,
    url: str,
    ways: Mapping[str, Way],
    place: Path,
    runs: int,
    rows: int,
    server: Path | None = None,
) -> Iterator[tuple[str, int, int]]:
    """Yield each way with its right words and all its words."""
    for number, (about, way) in enumerate(ways.items()):
        elsewhere = place / f"elsewhere{number}"
        elsewhere.mkdir()
        if server:
            owner = (server / "data").stat()
            os.chown(elsewhere, owner.st_uid, owner.st_gid)
        file = place / f"{number}.data"
        if way.make:
            way.make(file, rows)
            file.chmod(0o644)
        if way.made:
            session = find(url).connect(url, allow_writes=True)
            for sql in way.made.format(file=file, elsewhere=elsewhere).split("; "):
                session.run(sql)
            session.flush()
            session.close()
        if way.where:
            pattern = way.where.format(elsewhere=elsewhere)
            root = Path("/") if pattern.startswith("/") else server
            assert root
            file = max(root.glob(pattern.lstrip("/")), key=lambda path: path.stat().st_size)
        told = [
            right
            for is_kept, clocked in product((False, True), Clocked)
            for right in words(url, way, file, runs, clocked, is_kept=is_kept)
        ]
        print(f"{name}: {about}: {sum(told)} of {len(told)} words are mincore's", flush=True)
        yield f"{name}: {about}", sum(told), len(told)


def everywhere(
    place: Path, runs: int, rows: int, chosen: Callable[[str], bool]
) -> Iterator[tuple[str, int, int]]:
    """`chosen`: whether a way takes part, by its name."""
    for name, make, ways in (("DuckDB", _duckdb, of_duckdb()), ("SQLite", _sqlite, of_sqlite())):
        folder = place / name
        folder.mkdir()
        own = folder / "own"
        make(own, 1_000)
        here = {about: way for about, way in ways.items() if chosen(f"{name}: {about}")}
        yield from on(name, f"{name.lower()}:///{own}", here, folder, runs, rows)
    for name, start, ways in (
        ("PostgreSQL", lambda: start_postgresql(version=VERSION), of_postgresql(rows)),
        ("MariaDB", start_mariadb, of_mariadb(rows)),
        ("MySQL", start_mysql, of_mysql(rows)),
    ):
        here = {about: way for about, way in ways.items() if chosen(f"{name}: {about}")}
        folder = place / name
        folder.mkdir()
        with ExitStack() as stack:
            try:
                server = stack.enter_context(start()) if here else None
            except ServerFailed as error:
                print(f"left out: {error.what}")
                continue
            if server:
                yield from on(name, server.url, here, folder, runs, rows, server.directory)


def main() -> None:
    asked = arguments(__doc__ or "", words=20, rows=300_000, only="")
    if os.geteuid():
        raise SystemExit("the kernel reports opens, and others' files, to root alone: run as root")
    runs, rows = (1, 50_000) if asked.small else (max(1, asked.words // 4), asked.rows)

    def chosen(name: str) -> bool:
        return name in SMALL if asked.small else name.startswith(asked.only)

    with tempfile.TemporaryDirectory(prefix="tare-cold-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        found = list(everywhere(place, runs, rows, chosen))
    wrong = [f"{name} ({total - right} of {total})" for name, right, total in found if right < total]
    report(
        [
            Figure(
                f"words about a cold page cache that are not mincore's, of {sum(total for *_, total in found)} over "
                f"{len(found)} ways to read a file",
                sum(total - right for _, right, total in found),
                "",
                0,
                spread="; ".join(wrong),
            )
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
