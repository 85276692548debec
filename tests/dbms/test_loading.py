"""A table is filled from CSV, whole or not at all, by each DBMS's fastest door."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.mariadb import wire as mariadb_wire
from tare.dbms.registry import find
from tare.dbms.servers import start_mariadb
from tare.errors import ServerLost, StatementFailed, TareError
from tare.experiment.ledger import rows
from tests.dbms.databases import fresh
from tests.servers import own_server, wait_until_it_is_back

COLUMNS = "id integer, txt varchar(200), val double precision"
DOORS = {
    "postgresql": "COPY",
    "mariadb": "LOAD DATA",
    "mysql": "LOAD DATA",
    "sqlite": "INSERT",
    "duckdb": "COPY",
}


@pytest.fixture
def empty(dbms: str, writer_of: Callable[[str], Session]) -> Session:
    """A database with one empty table `loaded`."""
    session = writer_of(dbms)
    session.run("DROP TABLE IF EXISTS loaded")
    session.run(f"CREATE TABLE loaded ({COLUMNS})")
    return session


def written(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "it's \\ a [file]*.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def found(session: Session) -> list[Sequence[object]]:
    return list(rows(session, "SELECT id, txt, val FROM loaded ORDER BY id"))


def test_what_was_written_is_what_is_found(empty: Session, tmp_path: Path) -> None:
    file = written(tmp_path, "1,one,0.5\n2,two words,-1e3\n-3,\\n is no line feed,2\n")
    assert empty.load("loaded", file) == 3
    assert found(empty) == [(-3, "\\n is no line feed", 2.0), (1, "one", 0.5), (2, "two words", -1000.0)]


def test_empty_is_null_in_quotes_or_not(empty: Session, tmp_path: Path) -> None:
    assert empty.load("loaded", written(tmp_path, '1,,\n2,"",""\n,x,1\n')) == 3
    assert rows(empty, "SELECT count(*), count(id), count(txt), count(val) FROM loaded") == [(3, 2, 1, 1)]


def test_quotes_hold_commas_quotes_line_feeds_and_the_word_null(empty: Session, tmp_path: Path) -> None:
    texts = ["a,b", 'he said "no"', "two\nlines", "NULL", "ärgerlich, ü", "'single'"]
    lines = (f'{n},"{text.replace(chr(34), chr(34) * 2)}",1\n' for n, text in enumerate(texts))
    assert empty.load("loaded", written(tmp_path, "".join(lines))) == len(texts)
    assert [row[1] for row in found(empty)] == texts


def test_a_file_without_lines_adds_nothing(empty: Session, tmp_path: Path) -> None:
    assert empty.load("loaded", written(tmp_path, "")) == 0


def test_a_last_line_without_a_line_feed_counts(empty: Session, tmp_path: Path) -> None:
    assert empty.load("loaded", written(tmp_path, "1,a,1\n2,b,2")) == 2
    assert found(empty) == [(1, "a", 1.0), (2, "b", 2.0)]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param("x,text,1\n", id="no number"),
        pytest.param("7,text\n", id="a value short"),
        pytest.param("7,text,1,more\n", id="a value too many"),
        pytest.param(b"7,\xff\xfe,1\n", id="not UTF-8"),
        pytest.param("7,text,one\n", id="no floating-point number"),
    ],
)
def test_a_bad_line_leaves_the_table_as_it_was(empty: Session, tmp_path: Path, bad: str | bytes) -> None:
    empty.run("INSERT INTO loaded VALUES (0, 'before', 0)")
    bad = bad if isinstance(bad, bytes) else bad.encode()
    good = "".join(f"{n},good,1\n" for n in range(1, 5_000)).encode()
    file = written(tmp_path, good + bad + good)
    with pytest.raises(StatementFailed, match=r"nothing of .* was loaded into loaded(.|\n)*next:"):
        empty.load("loaded", file)
    assert found(empty) == [(0, "before", 0.0)]
    assert empty.load("loaded", written(tmp_path, "1,after,1\n")) == 1


def test_a_value_that_a_column_must_have_is_not_made_up(empty: Session, tmp_path: Path) -> None:
    empty.run("DROP TABLE loaded")
    empty.run("CREATE TABLE loaded (id integer NOT NULL, txt char(4) NOT NULL, val double precision)")
    for bad in ("1,,1\n", ",text,1\n"):
        with pytest.raises(StatementFailed, match="nothing of"):
            empty.load("loaded", written(tmp_path, "0,text,0\n" + bad))
    assert found(empty) == []


def test_a_doubled_key_is_refused(empty: Session, tmp_path: Path) -> None:
    empty.run("DROP TABLE loaded")
    empty.run("CREATE TABLE loaded (id integer PRIMARY KEY, txt varchar(9), val double precision)")
    with pytest.raises(StatementFailed, match="nothing of"):
        empty.load("loaded", written(tmp_path, "1,a,1\n2,b,2\n1,again,3\n"))
    assert found(empty) == []


def test_a_missing_table_or_file_is_said(empty: Session, tmp_path: Path) -> None:
    with pytest.raises(StatementFailed, match="nowhere"):
        empty.load("nowhere", written(tmp_path, "1\n"))
    with pytest.raises(StatementFailed, match=r"missing\.csv"):
        empty.load("loaded", tmp_path / "missing.csv")


def test_a_named_pipe_is_read_to_its_end(empty: Session, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "".join(f"{n},some text,{n}.5\n" for n in range(50_000))
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    assert empty.load("loaded", pipe) == 50_000
    writer.join(10)
    assert not writer.is_alive()
    told = rows(empty, "SELECT count(*), min(id), max(id), sum(val) FROM loaded")
    expected = (50_000, 0, 49_999, 50_000 * 49_999 / 2 + 25_000)
    assert [tuple(map(float, one)) for one in told] == [expected]  # type: ignore[arg-type]


def test_a_failed_load_lets_the_pipes_writer_go(empty: Session, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = threading.Event()

    def write() -> None:
        with suppress(BrokenPipeError):
            pipe.write_text("1,a,1\nno number,b,1\n" + "2,c,1\n" * 50_000)  # more than a pipe holds
        ended.set()

    threading.Thread(target=write, daemon=True).start()
    with pytest.raises(StatementFailed, match="nothing of"):
        empty.load("loaded", pipe)
    assert ended.wait(10)


def test_without_leave_to_write_nothing_is_loaded(dbms: str, url: str, tmp_path: Path) -> None:
    session = find(url).connect(url)
    try:
        with pytest.raises(TareError):
            session.load("numbers", written(tmp_path, "999999,1,1,x\n"))
        assert list(rows(session, "SELECT count(*) FROM numbers")) == [(20_000,)]
    finally:
        session.close()


def test_the_door_is_named(empty: Session) -> None:
    assert empty.door().startswith(DOORS[empty.server.dbms]) or "INSERT" in empty.door()


@pytest.mark.mariadb
def test_a_server_that_takes_no_local_files_gets_inserts_and_it_is_said(
    mariadb_url: str, tmp_path: Path
) -> None:
    """In a server of its own: the setting is the server's."""
    with start_mariadb(settings={"local_infile": "0"}) as server:
        session = find(server.url).connect(server.url, allow_writes=True)
        try:
            session.run(f"CREATE TABLE loaded ({COLUMNS})")
            lines = "".join(f'{n},"x, ""y""",\n' for n in range(12_000))
            assert session.load("loaded", written(tmp_path, lines)) == 12_000
            assert rows(session, "SELECT count(*), count(val), min(txt) FROM loaded") == [
                (12_000, 0, 'x, "y"')
            ]
            for bad in ("1,a\n", "x,a,1\n"):
                with pytest.raises(StatementFailed, match="nothing of"):
                    session.load("loaded", written(tmp_path, lines + bad))
            assert rows(session, "SELECT count(*) FROM loaded") == [(12_000,)]
            assert "INSERT" in session.door()
            assert "local_infile" in session.door()
        finally:
            session.close()


@pytest.fixture(
    scope="module",
    params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb), "sqlite", "duckdb"],
)
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database whose server may be killed: by the last test."""
    if request.param in ("sqlite", "duckdb"):
        with fresh(request.param, request, tmp_path_factory.mktemp("own")) as url:
            yield url
        return
    with own_server(request.param) as server:
        yield server.url


def test_ctrl_c_ends_a_load_and_nothing_of_it_is_kept(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB reads an endless file to its end, killed or not: then the connection is cut."""
    monkeypatch.setattr(mariadb_wire, "LEAVE_S", 0.5)
    session = find(own).connect(own, allow_writes=True)
    try:
        session.run(f"CREATE TABLE loaded ({COLUMNS})")
        with _endless(tmp_path) as pipe:
            timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            began = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                session.load("loaded", pipe)
            assert time.monotonic() - began < 10
            timer.join()
    finally:
        session.close()
    after = find(own).connect(own, allow_writes=True)
    try:
        assert rows(after, "SELECT count(*) FROM loaded") == [(0,)]
    finally:
        after.close()


def test_a_server_killed_while_it_loads_is_a_lost_server(own: str, tmp_path: Path) -> None:
    session = find(own).connect(own, allow_writes=True)
    try:
        session.run("DROP TABLE IF EXISTS loaded")
        session.run(f"CREATE TABLE loaded ({COLUMNS})")
        leader = session.leader()
        assert leader is not None
        with _endless(tmp_path) as pipe:
            timer = threading.Timer(0.5, os.kill, (leader.pid, signal.SIGKILL))
            timer.start()
            began = time.monotonic()
            with pytest.raises(ServerLost, match="next:"):
                session.load("loaded", pipe)
            assert time.monotonic() - began < 10
            timer.join()
    finally:
        session.close()
    if own.startswith("postgresql"):
        wait_until_it_is_back(own)


class _endless:  # noqa: N801
    """A pipe into which lines go until its reader leaves."""

    def __init__(self, folder: Path) -> None:
        self._pipe = folder / "endless"
        os.mkfifo(self._pipe)
        self._writer = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Path:
        self._writer.start()
        return self._pipe

    def __exit__(self, *exception: object) -> None:
        self._writer.join(10)
        assert not self._writer.is_alive(), "the reader has not let go of the pipe"

    def _write(self) -> None:
        with suppress(BrokenPipeError), self._pipe.open("wb") as out:
            for start in itertools.count(0, 1_000):
                out.write(b"".join(b"%d,text,1\n" % number for number in range(start, start + 1_000)))
