"""Buffered reads with their places: of a program whose reads are known, and of real servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tare.dbms.registry import find
from tare.measure.query import Query
from tare.os.events import Event, Passed
from tare.os.level import Level
from tare.os.record import FileReads
from tare.os.run import RunRequest, run
from tare.os.subject import of_server
from tare.os.watch import observe
from tests.os.test_planted import PAGE, observed, planted

__all__ = ["planted"]

SCAN = Query("scan", "SELECT count(*), sum(length(filler)) FROM scanned")
ROWS = 40_000
"""Rows of 1 KiB: more than a quarter of the shared buffers, so that a scan reads the file each time."""


@contextmanager
def scanned(url: str) -> Iterator[None]:
    """Give the database a table of 45 MiB."""
    session = find(url).connect(url, allow_writes=True)
    filler = "repeat('x', 1000) AS filler"
    session.run(f"CREATE TABLE scanned AS SELECT i, {filler} FROM generate_series(1, {ROWS}) i")
    session.run("VACUUM (ANALYZE) scanned")
    session.flush()
    try:
        yield
    finally:
        session.run("DROP TABLE scanned")
        session.close()


def table_reads(url: str) -> FileReads:
    """Reads of the table's own file in the traced window of a scan, of the role that has most of them."""
    request = RunRequest(runs=1, level=Level.READS)
    with scanned(url):
        observation = run(lambda: find(url).connect(url), [SCAN], request)
    (window,) = (one for one in observation.windows if one.is_traced)
    assert window.lost == {}
    cache = window.total().cache
    assert cache is not None
    assert sum(file.pages for file in window.files) == cache.requested
    assert sum(file.missed for file in window.files) == cache.missed
    return next(file for file in window.files if file.file == "scanned")


def test_planted_reads_are_recorded_exactly(planted: list[str], full: Level) -> None:
    (data,) = observed(planted, Level.READS).files
    assert (data.file, data.path) == ("data", planted[1])
    assert (data.reads, data.pages, data.missed, data.in_flight) == (21, 276, 266, 0)
    assert data.sequential == 0
    assert not data.thinned
    places = [point[1:] for point in data.points]
    single = [8 * place for place in range(10)]
    assert places[:10] == [(page, 1, 1) for page in single]
    assert places[10:20] == [(page, 1, 0) for page in single]
    assert places[20:] == [((4 << 20) // PAGE, 256, 256)]
    times = [point[0] for point in data.points]
    assert times == sorted(times)
    assert times[0] > 0


def test_no_reads_are_recorded_below_the_level(planted: list[str], full: Level) -> None:
    assert observed(planted, Level.MESSAGES).files == ()


def test_a_sequential_scan_by_the_backend_is_in_sequence(postgresql15_url: str, full: Level) -> None:
    read = table_reads(postgresql15_url)
    assert read.role == "query"
    assert read.path is not None
    assert "/base/" in read.path
    assert read.pages == 2 * read.reads
    assert read.sequential > 0.9 * read.reads


def test_io_workers_share_a_sequential_scan(postgresql_url: str, full: Level) -> None:
    """Each worker reads parts of the table. Together they read it in sequence."""
    read = table_reads(postgresql_url)
    assert read.role == "prefetcher (I/O worker)"
    assert 0 < read.sequential < read.reads
    ends = {page + pages for _, page, pages, _ in read.points}
    assert sum(page in ends for _, page, _, _ in read.points) > 0.9 * read.reads


def test_a_watch_names_the_files_of_others_work(postgresql15_url: str, full: Level) -> None:
    """Tare's own session has ended before; the one that reads begins and ends within the window."""
    done: list[Event] = []

    def work(event: Event) -> None:
        if isinstance(event, Passed) and not done:
            done.append(event)
            other = find(postgresql15_url).connect(postgresql15_url)
            other.run(SCAN.sql)
            other.close()

    with scanned(postgresql15_url):
        subject = of_server(find(postgresql15_url).connect(postgresql15_url))
        (window,) = observe(subject, Level.READS, 0.3, hear=work).windows
    table = next(file for file in window.files if file.file == "scanned")
    assert table.role == "backend"
    assert table.sequential > 0.9 * table.reads


def test_a_file_of_an_embedded_engine_has_its_own_name(sqlite_url: str, full: Level) -> None:
    query = Query("count", "SELECT count(*), sum(val) FROM numbers WHERE txt <> 'x'")
    request = RunRequest(runs=1, level=Level.READS, is_cold=True)
    observation = run(lambda: find(sqlite_url).connect(sqlite_url), [query], request)
    files = [file for window in observation.windows for file in window.files if file.role == "query"]
    data = next(file for file in files if file.file == "numbers.db")
    assert data.missed > 0
    assert 0 < data.sequential < data.reads


def named(url: str, *statements: str) -> dict[str, str]:
    """Names that a session gives its files after these statements, with the files' own names."""
    session = find(url).connect(url, allow_writes=True)
    try:
        for sql in statements:
            session.run(sql)
        return {name: path.name for path, name in session.file_names().items() if path.is_file()}
    finally:
        for table in ("long_texts", "passing"):
            session.run(f"DROP TABLE IF EXISTS {table}")
        session.close()


def test_postgresql_names_tables_indexes_and_temporary_tables(postgresql_url: str) -> None:
    names = named(
        postgresql_url,
        "CREATE TABLE long_texts (id int PRIMARY KEY, words text)",
        "CREATE TEMPORARY TABLE passing AS SELECT 1 AS one",
    )
    assert {"numbers", "long_texts", "long_texts_pkey", "TOAST of long_texts", "pg_class"} <= names.keys()
    (passing,) = (path for name, path in names.items() if name.endswith(".passing"))
    assert passing.startswith("t")


@pytest.mark.parametrize(
    ("dbms", "name"),
    [("mariadb", "tare.numbers"), ("sqlite", "numbers.db"), ("duckdb", "numbers.duckdb")],
)
def test_other_engines_name_their_files(dbms: str, name: str, request: pytest.FixtureRequest) -> None:
    names = named(request.getfixturevalue(f"{dbms}_url"))
    assert name in names, names
