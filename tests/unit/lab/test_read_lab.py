"""The rows of a SQLite lab as they leave the file: of the asked kinds, or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest

from tare._probe import LabRows, read_lab

COLUMNS = [
    ("small", "int32", []),
    ("large", "int64", []),
    ("yes", "boolean", []),
    ("said", "text", []),
    ("word", "word", ["ok", "timeout"]),
]
GOOD = (7, 2**40, 1, "Grüße", "timeout")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a lab? 100% ours #1.db"


def fill(file: Path, *rows: tuple[object, ...]) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (small, large, yes, said, word)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)


def read(file: Path, sql: str = "SELECT * FROM t") -> LabRows:
    return read_lab(file, True, sql, COLUMNS)


def stream(rows: LabRows) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_stream(rows)


def test_each_value_arrives_as_its_column_s_kind(file: Path) -> None:
    fill(file, GOOD, (None,) * 5)
    table = stream(read(file)).read_all()
    assert [str(field.type) for field in table.schema] == ["int32", "int64", "bool", "string", "uint8"]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (7, 2**40, True, "Grüße", 1),
        (None,) * 5,
    ]


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 2**31), (0, "7"), (1, 0.5), (2, 2), (3, b"\xff"), (3, 5), (4, "paused"), (4, 1)],
)
def test_what_is_not_of_its_column_s_kind_ends_the_stream(file: Path, place: int, value: object) -> None:
    fill(file, GOOD, (*GOOD[:place], value, *GOOD[place + 1 :]))
    rows = read(file)
    with pytest.raises(pa.ArrowInvalid, match=f"a value of {COLUMNS[place][0]} is not of its kind"):
        stream(rows).read_all()
    assert rows.misfit


def test_what_sqlite_refuses_is_told_in_its_words(file: Path) -> None:
    fill(file)
    rows = read(file, "SELECT * FROM nowhere")
    with pytest.raises(pa.ArrowException, match="no such table: nowhere"):
        stream(rows).read_all()
    assert not rows.misfit


def test_more_rows_than_a_batch_come_in_their_order(file: Path) -> None:
    fill(file, *[(number, *GOOD[1:]) for number in range(50_000)])
    batches = list(stream(read(file)))
    assert len(batches) > 1
    assert [one for batch in batches for one in batch.column("small").to_pylist()] == list(range(50_000))


def test_who_stops_early_leaves_the_lab_closed(file: Path) -> None:
    fill(file, *[GOOD] * 200_000)
    rows = stream(read(file))
    next(iter(rows))
    del rows
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # no -wal, no -shm: the last has left


def test_a_stream_is_read_once(file: Path) -> None:
    fill(file, GOOD)
    rows = read(file)
    stream(rows).read_all()
    with pytest.raises(ValueError, match="read already"):
        stream(rows)


def test_a_kind_that_there_is_not(file: Path) -> None:
    with pytest.raises(ValueError, match="no kind of column is called decimal"):
        read_lab(file, True, "SELECT 1", [("one", "decimal", [])])
