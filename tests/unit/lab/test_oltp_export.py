"""A transactional run that goes out through an export and comes back is the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from tare.errors import ForeignFile
from tare.lab.exporting import export
from tare.lab.foreign import Export
from tare.lab.importing import import_
from tare.lab.oltp import listed, load, record
from tare.lab.parquet import OLTP_TABLES, TABLES
from tare.lab.store import Lab, open_lab
from tare.workload.oltp.run import OltpRun
from tests.unit.lab.filling import whole_run
from tests.unit.report.oltp import sample

OTHER = "aaaa4b1e-9a55-4d8e-8a26-0d6b5f6b7c11"


@pytest.fixture(scope="module")
def run() -> OltpRun:
    return replace(sample.run(seconds=3, rates=(100.0, 200.0), stall=None), after=sample.checks(failing=2))


@pytest.fixture
def other(tmp_path: Path, run: OltpRun) -> Iterator[Lab]:
    """A lab in which other runs have taken the ids."""
    with open_lab(str(tmp_path / "other.db"), create=True) as opened:
        whole_run(opened, qes=2, name="theirs")
        record(opened, replace(run, uuid=OTHER))
        yield opened


def test_it_comes_into_another_lab_as_it_was_beside_an_experiment(
    lab: Lab, other: Lab, run: OltpRun, tmp_path: Path
) -> None:
    experiment, number = whole_run(lab), record(lab, run)
    said = export(lab, [experiment], tmp_path / "export", [number])
    assert said.oltp_runs == (run.uuid,)
    with Export(tmp_path / "export") as found:
        done = import_(other, found)
    assert (list(done.runs.values()), dict(done.oltp)) == ([2], {run.uuid: 2})
    assert load(other, 2) == load(lab, number)
    assert load(other, 1).uuid == OTHER


def test_it_comes_into_a_lab_of_either_engine(where: str, run: OltpRun, other: Lab, tmp_path: Path) -> None:
    export(other, [], tmp_path / "export", [1])
    with open_lab(where, create=True) as target, Export(tmp_path / "export") as found:
        done = import_(target, found)
        assert load(target, done.oltp[OTHER]) == load(other, 1)
        assert record(target, run) == done.oltp[OTHER] + 1


def test_an_export_of_an_import_is_the_same_export(sqlite_lab: Lab, run: OltpRun, tmp_path: Path) -> None:
    export(sqlite_lab, [], tmp_path / "one", [record(sqlite_lab, run)])
    with open_lab(str(tmp_path / "empty.db"), create=True) as empty, Export(tmp_path / "one") as found:
        import_(empty, found)
        export(empty, [], tmp_path / "two", [1])
    for table in (*TABLES, *OLTP_TABLES):
        one, two = (tmp_path / name / f"{table}.parquet" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), table


def test_a_run_that_is_there_is_left_as_it_was(other: Lab, tmp_path: Path) -> None:
    export(other, [], tmp_path / "export", [1])
    with Export(tmp_path / "export") as found:
        done = import_(other, found)
    assert (dict(done.oltp), done.skipped) == ({}, (OTHER,))
    assert len(listed(other)) == 1


def test_only_the_runs_asked_for_go_out(other: Lab, run: OltpRun, tmp_path: Path) -> None:
    number = record(other, run)
    export(other, [], tmp_path / "export", [number])
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT count(*), min(oltp_run_id), max(oltp_run_id) FROM read_parquet(?)",
            [str(tmp_path / "export" / "oltp_second.parquet")],
        ).fetchall()
    assert found == [(len(run.seconds), number, number)]


def test_an_export_without_transactional_runs_has_no_files_of_them(other: Lab, tmp_path: Path) -> None:
    export(other, [1], tmp_path / "export")
    assert not list((tmp_path / "export").glob("oltp*"))


def test_an_export_of_the_schema_before_still_comes_in(other: Lab, lab: Lab, tmp_path: Path) -> None:
    export(other, [1], tmp_path / "export")
    file = tmp_path / "export" / "lab.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": "0001"}))
    with Export(tmp_path / "export") as found:
        assert len(import_(lab, found).runs) == 1


def test_a_run_of_the_schema_before_comes_in_without_stalls_and_round_trips(
    other: Lab, lab: Lab, tmp_path: Path
) -> None:
    export(other, [], tmp_path / "export", [1])
    file, description = tmp_path / "export" / "oltp_run.parquet", tmp_path / "export" / "lab.json"
    pq.write_table(pq.read_table(file).drop_columns(["stalls", "round_trips"]), file)
    said = json.loads(description.read_text()) | {"schema": "0002"}
    said["tables"]["oltp_run"] |= {
        "bytes": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    description.write_text(json.dumps(said))
    with Export(tmp_path / "export") as found:
        (number,) = import_(lab, found).oltp.values()
    outcome = load(lab, number).outcome
    assert (outcome.stalls, outcome.round_trips) == (None, None)


def test_a_file_of_it_that_is_missing_or_changed_is_named(other: Lab, lab: Lab, tmp_path: Path) -> None:
    export(other, [], tmp_path / "export", [1])
    file = tmp_path / "export" / "oltp_type.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"\0")
    with pytest.raises(ForeignFile, match=r"oltp_type\.parquet.*damaged or changed"):
        Export(tmp_path / "export")
    file.unlink()
    with pytest.raises(ForeignFile, match=r"oltp_type\.parquet.*not there"):
        Export(tmp_path / "export")
