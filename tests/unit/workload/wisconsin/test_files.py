"""Relations as files: whole or not there, with the same rows in every format."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from tare.errors import ExportFailed, NotEnoughDisk, UsageError
from tare.workload.wisconsin import files
from tare.workload.wisconsin.files import estimated_bytes, write_files
from tare.workload.wisconsin.kinds import Format, Generation
from tare.workload.wisconsin.relations import relations
from tare.workload.wisconsin.rows import tuples

ALL = relations(Generation.Y1993)


def test_both_formats_hold_the_same_tuples_under_the_same_names(tmp_path: Path) -> None:
    for kind in Format:
        write_files(ALL, 2_000, tmp_path, kind)
    for one in ALL:
        csv, parquet = (
            duckdb.sql(f"SELECT * FROM '{tmp_path}/{one.name}.{kind}' ORDER BY unique2").fetchall()
            for kind in Format
        )
        assert csv == parquet == list(tuples(one, 2_000))
        names = [name for name, *_ in duckdb.sql(f"DESCRIBE FROM '{tmp_path}/{one.name}.parquet'").fetchall()]
        assert names == [attribute.name for attribute in one.attributes]


def test_1983_is_written_as_well(tmp_path: Path) -> None:
    done = write_files(relations(Generation.Y1983), 10_000, tmp_path, Format.PARQUET)
    assert sum(one.tuples for one in done) == 29_000
    (count,) = duckdb.sql(f"SELECT count(DISTINCT unique1) FROM '{tmp_path}/tenthoustup2.parquet'").fetchall()
    assert count == (10_000,)


@pytest.mark.parametrize("kind", Format)
def test_the_estimate_is_enough_and_not_far_too_much(kind: Format, tmp_path: Path) -> None:
    estimated = estimated_bytes(ALL, 20_000, kind)
    written = sum(one.bytes for one in write_files(ALL, 20_000, tmp_path, kind))
    assert written <= estimated <= 2 * written


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bprime.csv").write_text("mine")
    with pytest.raises(UsageError, match=r"bprime\.csv is there already\n.*--replace"):
        write_files(ALL, 1_000, tmp_path, Format.CSV)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("bprime.csv", "mine")]
    write_files(ALL, 1_000, tmp_path, Format.CSV, replace=True)
    assert len((tmp_path / "bprime.csv").read_text().splitlines()) == 101


def test_a_disk_that_is_too_small_is_known_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**9))
    with pytest.raises(NotEnoughDisk, match=r"4\.\d\d GB .*1\.00 GB are free"):
        write_files(ALL, 10_000_000, tmp_path / "folder", Format.CSV)
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("kind", Format)
def test_a_failure_half_way_leaves_nothing(
    kind: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for the second relation's file, as /dev/full is."""
    write = files._WRITERS[kind]

    def failing(one: object, rows: int, path: Path, header: bool) -> None:
        if path.name.startswith("tenktup1"):
            path.symlink_to("/dev/full")
        write(one, rows, path, header)  # type: ignore[arg-type]

    monkeypatch.setitem(files._WRITERS, kind, failing)
    with pytest.raises(ExportFailed, match="No space left"):
        write_files(ALL, 1_000, tmp_path, kind)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="could not be written to"):
        write_files(ALL, 1_000, tmp_path / "file" / "folder", Format.CSV)
