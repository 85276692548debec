"""A lab as a protocol sees it: the same rows from a SQLite lab, a PostgreSQL lab and an export, and only those
that count."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow.parquet as pq
import pytest
from benchmarks.synthetic import chunks, write_lab, write_parquet
from sqlalchemy import insert, update

from tare.errors import ForeignFile, LabError, LabTooNew, NoSuchRun, TareError
from tare.lab import schema
from tare.lab.columns import LEFT_OUT
from tare.lab.foreign import Export
from tare.lab.frames import Frames, open_frames
from tare.lab.importing import import_
from tare.lab.recorder import Recorder
from tare.lab.store import Lab, open_lab
from tare.measure.records import Outcome
from tests.unit.lab.databases import own_database
from tests.unit.lab.filling import QUERIES, SCAN, begin, whole_run
from tests.unit.protocol.qe_records import process, qe

QATCS = 90  # in eight runs of the synthetic lab
NAMES = [field.name for field in fields(Frames)]


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    write_lab(folder / "lab.db", chunks(QATCS))
    write_parquet(folder / "export", chunks(QATCS))
    return folder


@pytest.fixture(scope="module")
def from_postgresql(synthetic: Path, postgresql_url: str) -> Iterator[str]:
    with own_database(postgresql_url) as url:
        with Export(synthetic / "export") as found, open_lab(url, create=True) as lab:
            import_(lab, found)
        yield url


def rows(table: ir.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_pyarrow().to_pylist()
    return sorted(found, key=lambda row: [(value is None, value) for value in row.values()])


def same(one: Frames, other: Frames) -> None:
    for name in NAMES:
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine.schema() == theirs.schema(), name
        assert rows(mine) == rows(theirs), name


# The same from everywhere -------------------------------------------------------------
def test_a_sqlite_lab_and_its_export_hold_the_same(synthetic: Path) -> None:
    lab, export = open_frames(synthetic / "lab.db"), open_frames(synthetic / "export")
    same(lab, export)
    assert lab.qe.count().to_pyarrow().as_py() == QATCS * 10
    assert lab.process.count().to_pyarrow().as_py() > QATCS * 10 * 8


def test_a_postgresql_lab_holds_the_same(synthetic: Path, from_postgresql: str) -> None:
    same(open_frames(from_postgresql), open_frames(synthetic / "export"))


@pytest.mark.parametrize("source", ["lab.db", "export"])
def test_only_the_asked_runs_are_there(synthetic: Path, source: str) -> None:
    every = open_frames(synthetic / source)
    uuid = every.run.filter(every.run.id == 5).uuid.to_pyarrow()[0].as_py()
    frames = open_frames(synthetic / source, ["e3", uuid[:12], "e3"])
    assert sorted(frames.run.id.to_pyarrow().to_pylist()) == [3, 5]
    for name in ("query", "qatc", "qe"):
        some, all_ = getattr(frames, name), getattr(every, name)
        assert rows(some) == rows(all_.filter(all_.run_id.isin([3, 5])))
    own = set(frames.qe.id.to_pyarrow().to_pylist())
    assert set(frames.process.qe_id.to_pyarrow().to_pylist()) == own


def test_what_no_protocol_reads_is_left_in_the_lab(synthetic: Path) -> None:
    frames = open_frames(synthetic / "lab.db")
    for name in ("qatc", "qe", "process"):
        known = set(schema.metadata.tables[name].columns.keys())
        assert known - set(getattr(frames, name).columns) == LEFT_OUT[name]


# What counts --------------------------------------------------------------------------
def test_only_qes_that_count_are_there(sqlite_lab: Lab) -> None:
    recorder = Recorder(sqlite_lab)
    run_id = begin(recorder)
    with sqlite_lab.reading() as connection:
        first = connection.execute(schema.query.select()).first()
    assert first is not None
    qatc_id = recorder.visit(first.id, 0, 100, SCAN, timed=True)
    recorder.record(qatc_id, 1, 1, qe(0))  # of the attempt that a changed plan ended
    recorder.restart(qatc_id, SCAN)
    recorder.record(qatc_id, 2, None, qe(1, warmup=True))
    recorder.record(qatc_id, 2, None, qe(2, outcome=Outcome.FAILED, error="connection lost"))
    counting = [
        recorder.record(qatc_id, 2, 1, qe(3)),
        recorder.record(qatc_id, 2, 2, qe(4, outcome=Outcome.TIMEOUT)),
    ]
    frames = open_frames(str(sqlite_lab.path), [f"e{run_id}"])
    assert sorted(frames.qe.id.to_pyarrow().to_pylist()) == counting
    assert set(frames.process.qe_id.to_pyarrow().to_pylist()) == set(counting)
    assert {row["query"] for row in rows(frames.qatc)} == {QUERIES[0].name}


def test_each_table_has_what_stands_above_it(sqlite_lab: Lab) -> None:
    whole_run(sqlite_lab)
    frames = open_frames(str(sqlite_lab.path))
    (run,) = rows(frames.run)
    assert (run["experiment"], run["scenario"], run["dbms"], run["dbms_version"]) == (
        "small", "onepass", "postgresql", "18.4",
    )  # fmt: skip
    for one in rows(frames.qe):
        assert (one["dbms"], one["cardinality"], one["tick_ns"], one["cache"]) == (
            "postgresql", 100, run["tick_ns"], run["cache"],
        )  # fmt: skip
    assert {(one["query_number"], one["visit"]) for one in rows(frames.qatc)} == {
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    }


# What an engine might make of the values ------------------------------------------------
def test_text_that_begins_with_a_batch_of_nothing_is_still_text(sqlite_lab: Lab) -> None:
    run_id = whole_run(sqlite_lab, qes=1)
    with sqlite_lab.writing() as connection:
        connection.execute(schema.process.delete())
        qe_ids = [row.id for row in connection.execute(schema.qe.select())]
        plain = {
            "pid": 1, "ppid": 1, "comm": "a", "cmdline": "", "role": "daemon", "fate": "steady", "kernel": False,
            "cpu": 0, "threads": 1,
        }  # fmt: skip
        nameless = [{**plain, "qe_id": qe_ids[0], "dbms": None}] * 40_000
        connection.execute(
            insert(schema.process), [*nameless, {**plain, "qe_id": qe_ids[0], "dbms": "oracle"}]
        )
    frames = open_frames(str(sqlite_lab.path), [f"e{run_id}"])
    found = frames.process.dbms.value_counts().to_pyarrow().to_pylist()
    assert sorted((row["dbms_count"], row["dbms"]) for row in found) == [(1, "oracle"), (40_000, None)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("maj_faults", 2**31),
        ("read_calls", 2**62),
        ("dbms", "a DBMS of which Tare never heard"),
        ("pid", 2**40),
    ],
)
def test_a_value_beyond_the_usual_is_kept_as_it_is(sqlite_lab: Lab, column: str, value: object) -> None:
    whole_run(sqlite_lab)
    with sqlite_lab.writing() as connection:
        connection.execute(update(schema.process).where(schema.process.c.qe_id == 1).values({column: value}))
    frames = open_frames(str(sqlite_lab.path))
    found = {row["qe_id"]: row[column] for row in rows(frames.process)}
    assert found.pop(1) == value
    assert value not in found.values()


# A lab that is in use ----------------------------------------------------------------
def test_a_lab_can_be_read_while_another_process_writes(tmp_path: Path) -> None:
    file = tmp_path / "lab.db"
    with open_lab(str(file), create=True) as lab:
        whole_run(lab)
    writer = subprocess.Popen(
        [
            sys.executable, "-c",
            "import sqlite3, sys, time\n"
            f"c = sqlite3.connect({str(file)!r}, isolation_level=None)\n"
            "c.execute('BEGIN IMMEDIATE')\n"
            "c.execute(\"UPDATE run SET said = 'not yet committed'\")\n"
            "print('writing', flush=True); sys.stdin.read()\n",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        frames = open_frames(file)
        assert rows(frames.run)[0]["said"] is None
        assert frames.qe.count().to_pyarrow().as_py() == 6
    finally:
        writer.communicate("", timeout=30)


def test_opening_leaves_the_lab_as_it_was(synthetic: Path, tmp_path: Path) -> None:
    file = tmp_path / "lab.db"
    shutil.copy(synthetic / "lab.db", file)
    before = file.read_bytes()
    open_frames(file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["lab.db"]


def test_a_lab_that_may_only_be_read_is_read(synthetic: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    shutil.copy(synthetic / "lab.db", tmp_path / "lab.db")
    (tmp_path / "lab.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert open_frames(tmp_path / "lab.db").qe.count().to_pyarrow().as_py() == QATCS * 10
    finally:
        tmp_path.chmod(0o755)


def test_the_temporary_folder_goes_with_the_frames(
    synthetic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frames = open_frames(synthetic / "export")
    assert len(list(tmp_path.iterdir())) == 1
    del frames
    gc.collect()
    assert not list(tmp_path.iterdir())


# What cannot be opened ----------------------------------------------------------------
def refused(kind: type[TareError], where: Path | str, *runs: str) -> str:
    with pytest.raises(kind) as told:
        open_frames(where, list(runs) or None)
    assert told.value.next_step
    return told.value.what


def test_a_lab_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no lab" in refused(LabError, tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_a_lab_without_runs(tmp_path: Path) -> None:
    open_lab(str(tmp_path / "lab.db"), create=True).close()
    assert "no runs" in refused(NoSuchRun, tmp_path / "lab.db")


def test_a_newer_lab(synthetic: Path, tmp_path: Path) -> None:
    shutil.copy(synthetic / "lab.db", tmp_path / "lab.db")
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        connection.execute("UPDATE lab_version SET version_num = '9999'")
    connection.close()
    assert "9999" in refused(LabTooNew, tmp_path / "lab.db")


@pytest.mark.parametrize("source", ["lab.db", "export"])
@pytest.mark.parametrize("run", ["77", "zz", ""])
def test_a_run_that_is_not_there(synthetic: Path, source: str, run: str) -> None:
    refused(NoSuchRun, synthetic / source, run)


def test_a_uuid_that_fits_several_runs(synthetic: Path) -> None:
    every = open_frames(synthetic / "export").run.uuid.to_pyarrow().to_pylist()
    shared = next(a[0] for a in every if sum(b.startswith(a[0]) for b in every) > 1 and not a[0].isdigit())
    assert "fit" in refused(NoSuchRun, synthetic / "export", shared)


def test_a_folder_that_is_no_export(tmp_path: Path) -> None:
    assert "no export" in refused(ForeignFile, tmp_path)


def test_an_export_that_lacks_a_table(synthetic: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(synthetic / "export", folder)
    (folder / "process.parquet").unlink()
    assert "process.parquet" in refused(ForeignFile, folder)


def test_an_export_whose_file_is_torn(synthetic: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(synthetic / "export", folder)
    whole = (folder / "qe.parquet").read_bytes()
    (folder / "qe.parquet").write_bytes(whole[: len(whole) // 2])
    assert "qe.parquet" in refused(ForeignFile, folder)


def test_an_export_that_lacks_a_column(synthetic: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(synthetic / "export", folder)
    table = pq.read_table(folder / "process.parquet").drop_columns(["run_queue_ns"])
    pq.write_table(table, folder / "process.parquet")
    assert "run_queue_ns" in refused(ForeignFile, folder)


def test_a_lab_that_is_torn(synthetic: Path, tmp_path: Path) -> None:
    whole = (synthetic / "lab.db").read_bytes()
    (tmp_path / "lab.db").write_bytes(whole[: len(whole) // 2])
    refused(LabError, tmp_path / "lab.db")


def test_a_lab_whose_words_are_no_words_keeps_them(sqlite_lab: Lab) -> None:
    """An analysis finds no process of that role; it does not fail."""
    recorder = Recorder(sqlite_lab)
    run_id = begin(recorder)
    with sqlite_lab.reading() as connection:
        first = connection.execute(schema.query.select()).first()
    assert first is not None
    qatc_id = recorder.visit(first.id, 0, 100, SCAN, timed=True)
    recorder.record(qatc_id, 1, 1, qe(0, processes=(process(7),)))
    with sqlite_lab.writing() as connection:
        connection.execute(update(schema.process).values(role="a role to come"))
    assert rows(open_frames(str(sqlite_lab.path), [f"e{run_id}"]).process)[0]["role"] == "a role to come"


def test_numbers_that_are_text_are_refused(sqlite_lab: Lab) -> None:
    whole_run(sqlite_lab)
    path = str(sqlite_lab.path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE process SET user_ticks = 'many'")
    connection.close()
    assert "process" in refused(LabError, path)


def test_no_password_is_told(postgresql_tcp_url: str) -> None:
    url = postgresql_tcp_url.replace("://", "://postgres:s3cret%40@").rsplit("/", 1)[0] + "/none_of_it"
    with pytest.raises(LabError) as told:
        open_frames(url)
    assert "s3cret" not in str(told.value)
