"""A run that goes out through an export and comes back is the same run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import func, select, text

from tare.errors import ExportFailed, UsageError
from tare.lab import frames
from tare.lab.exporting import export
from tare.lab.foreign import Export
from tare.lab.importing import Imported, import_
from tare.lab.parquet import TABLES
from tare.lab.progress import progress, runs
from tare.lab.schema import metadata
from tare.lab.states import RunState
from tare.lab.store import Lab, open_lab
from tare.lab.verify import verify
from tests.unit.lab.filling import begun, whole_run
from tests.unit.lab.test_trouble import tiny_disk
from tests.unit.protocol.qe_records import qe


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Lab]:
    """A lab in which other runs have taken the ids."""
    with open_lab(str(tmp_path / "other.db"), create=True) as opened:
        whole_run(opened, qes=2, name="theirs")
        yield opened


def taken(lab: Lab, folder: Path) -> Imported:
    with Export(folder) as found:
        return import_(lab, found)


def contents(lab: Lab, run_id: int) -> dict[str, list[Any]]:
    """All of a run, without the ids that labs give."""
    found: dict[str, list[Any]] = {}
    queries = {
        "experiment": "SELECT e.* FROM experiment e JOIN run r ON r.experiment_id = e.id WHERE r.id = :run",
        "dbms": "SELECT d.* FROM dbms d JOIN run r ON r.dbms_id = d.id WHERE r.id = :run",
        "machine": "SELECT m.* FROM machine m JOIN run r ON r.machine_id = m.id WHERE r.id = :run",
        "run": "SELECT * FROM run WHERE id = :run",
        "query": "SELECT * FROM query WHERE run_id = :run ORDER BY number",
        "qatc": "SELECT q.number, c.* FROM qatc c JOIN query q ON q.id = c.query_id "
        "WHERE c.run_id = :run ORDER BY q.number, c.visit",
        "qe": "SELECT c.visit, qe.* FROM qe JOIN qatc c ON c.id = qe.qatc_id WHERE qe.run_id = :run "
        "ORDER BY run_order",
    }
    below = (
        "SELECT qe.run_order, t.* FROM {} t JOIN qe ON qe.id = t.qe_id WHERE qe.run_id = :run ORDER BY 1, {}"
    )
    for table, order in (("process", "t.pid"), ("cpu", "t.cpu"), ("reading", "1"), ("audit", "1")):
        queries[table] = below.format(table, order)
    with lab.reading() as connection:
        for table, query in queries.items():
            for row in connection.execute(text(query), {"run": run_id}).mappings():
                plain = {n: v for n, v in row.items() if n != "id" and not n.endswith("_id")}
                found.setdefault(table, []).append(plain)
    return found


def audited(lab: Lab, run_id: int) -> None:
    with lab.writing() as connection:
        connection.execute(
            text(
                "INSERT INTO audit (qe_id, accepted, why, cpu_ns) "
                "SELECT id, number = 1, 'switch-ins differ', run_order FROM qe WHERE run_id = :run"
            ),
            {"run": run_id},
        )


def test_a_run_comes_into_another_lab_as_it_was(lab: Lab, other: Lab, tmp_path: Path) -> None:
    begun(lab)
    run_id = whole_run(lab)
    audited(lab, run_id)
    export(lab, [run_id], tmp_path / "export")
    done = taken(other, tmp_path / "export")
    assert list(done.runs.values()) == [2]
    assert done.skipped == ()
    assert plain(contents(other, 2)) == plain(contents(lab, run_id))
    assert {table: len(rows) for table, rows in contents(other, 2).items()} == {
        "experiment": 1, "dbms": 1, "machine": 1, "run": 1, "query": 2, "qatc": 4, "qe": 6,
        "process": 18, "cpu": 12, "reading": 6, "audit": 6,
    }  # fmt: skip
    assert verify(other, [1, 2]).mismatches == 0


JSON = {"settings", "facts", "means", "deviations", "plan", "leader_why"}


def plain(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Engines give JSON as its text or as what it means, and booleans as numbers."""

    def same(name: str, value: Any) -> Any:
        if name in JSON and isinstance(value, str):
            return json.loads(value)
        return int(value) if isinstance(value, bool) else value

    return {
        table: [{name: same(name, value) for name, value in row.items()} for row in rows]
        for table, rows in found.items()
    }


def test_a_run_comes_into_a_lab_of_either_engine(where: str, sqlite_path: Path, tmp_path: Path) -> None:
    with open_lab(str(sqlite_path), create=True) as source, open_lab(where, create=True) as target:
        begun(target, name="theirs")
        run_id = whole_run(source)
        export(source, [run_id], tmp_path / "export")
        (number,) = taken(target, tmp_path / "export").runs.values()
        assert plain(contents(target, number)) == plain(contents(source, run_id))
        # What is recorded later gets ids of its own.
        assert whole_run(target) == number + 1


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "source.db"


def test_an_export_of_an_import_is_the_same_export(sqlite_lab: Lab, other: Lab, tmp_path: Path) -> None:
    run_id = whole_run(sqlite_lab)
    export(sqlite_lab, [run_id], tmp_path / "one")
    with open_lab(str(tmp_path / "empty.db"), create=True) as empty:
        taken(empty, tmp_path / "one")
        export(empty, [1], tmp_path / "two")
    for table in TABLES:
        assert (tmp_path / "one" / f"{table}.parquet").read_bytes() == (
            tmp_path / "two" / f"{table}.parquet"
        ).read_bytes()


def test_a_run_that_is_there_is_left_as_it_was(lab: Lab, other: Lab, tmp_path: Path) -> None:
    first, second = whole_run(lab), whole_run(lab, qes=2)
    export(lab, [first], tmp_path / "first")
    export(lab, [first, second], tmp_path / "both")
    taken(other, tmp_path / "first")
    before = contents(other, 2)
    done = taken(other, tmp_path / "both")
    assert list(done.runs.values()) == [3]
    assert done.skipped == (progress(lab, first).run.uuid,)
    assert contents(other, 2) == before
    assert plain(contents(other, 3)) == plain(contents(lab, second))
    with other.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(metadata.tables["machine"])) == 1


def test_a_run_exported_while_it_runs_is_paused_where_it_arrives(
    lab: Lab, other: Lab, tmp_path: Path
) -> None:
    recorder, run_id, qatc_id = begun(lab)
    recorder.record(qatc_id, 1, 1, qe())
    with lab.writing() as connection:
        connection.execute(text("UPDATE run SET executor = 'me'"))
    export(lab, [run_id], tmp_path / "export")
    taken(other, tmp_path / "export")
    arrived = progress(other, 2).run
    assert (arrived.state, arrived.executor) == (RunState.PAUSED, None)
    assert progress(lab, run_id).run.state is RunState.RUNNING


def test_an_export_is_plain_parquet_that_others_read(lab: Lab, tmp_path: Path) -> None:
    run_id = whole_run(lab)
    export(lab, [run_id], tmp_path / "export")
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT count(*), count(DISTINCT qe_id) FROM read_parquet(?) WHERE role = 'query'",
            [str(tmp_path / "export" / "process.parquet")],
        ).fetchall()
    assert found == [(6, 6)]
    counted = frames.open_frames(tmp_path / "export").qe.count().to_pyarrow().as_py()
    assert counted == 6


def test_only_the_runs_asked_for_go_out(lab: Lab, tmp_path: Path) -> None:
    whole_run(lab, name="theirs")
    run_id = whole_run(lab)
    description = export(lab, [run_id], tmp_path / "export")
    assert {table: facts.rows for table, facts in description.files.items()} == {
        "experiment": 1, "dbms": 1, "machine": 1, "run": 1, "query": 2, "qatc": 4, "qe": 6,
        "process": 18, "cpu": 12, "reading": 6, "audit": 0,
    }  # fmt: skip


def test_a_folder_that_holds_something_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    run_id = whole_run(lab)
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "thesis.txt").write_text("all of it")
    with pytest.raises(UsageError, match="not empty"):
        export(lab, [run_id], tmp_path / "export")
    assert [path.name for path in (tmp_path / "export").iterdir()] == ["thesis.txt"]


def test_an_empty_folder_may_be_exported_to(lab: Lab, tmp_path: Path) -> None:
    run_id = whole_run(lab)
    (tmp_path / "export").mkdir()
    export(lab, [run_id], tmp_path / "export")
    assert (tmp_path / "export" / "lab.json").exists()


def test_an_export_to_a_full_disk_leaves_nothing(sqlite_lab: Lab, tmp_path: Path) -> None:
    run_id = whole_run(sqlite_lab, qes=100)
    with tiny_disk(tmp_path / "disk", "16k") as disk:
        with pytest.raises(ExportFailed, match="nothing half-written"):
            export(sqlite_lab, [run_id], disk / "export")
        assert list(disk.iterdir()) == []


def test_many_rows_go_through_in_parts(
    sqlite_lab: Lab, other: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With parts so small that every table has several."""
    monkeypatch.setattr("tare.lab.exporting._FETCH_ROWS", 2)
    monkeypatch.setattr("tare.lab.exporting._GROUP_ROWS", 5)
    monkeypatch.setattr("tare.lab.foreign._BATCH_ROWS", 3)
    run_id = whole_run(sqlite_lab, qes=7)
    export(sqlite_lab, [run_id], tmp_path / "export")
    taken(other, tmp_path / "export")
    assert plain(contents(other, 2)) == plain(contents(sqlite_lab, run_id))
    assert [one.qes for one in runs(other)] == [4, 14]
