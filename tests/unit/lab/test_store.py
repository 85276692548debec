"""Opening a lab: what is there, what is not, and what is none."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from tare.errors import LabError, LabLost, LabTooNew, NoSuchRun, UsageError
from tare.lab.progress import runs
from tare.lab.recorder import Recorder
from tare.lab.store import Lab, find_runs, open_lab
from tests.unit.lab.filling import begun, whole_run


def test_a_lab_that_is_not_there_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no lab"):
        open_lab(str(tmp_path / "lab.db"))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_is_no_lab(postgresql_lab: str) -> None:
    with pytest.raises(LabError, match="is empty"):
        open_lab(postgresql_lab)


def test_a_lab_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="mkdir -p"):
        open_lab(str(tmp_path / "none" / "lab.db"), create=True)


def test_a_closed_lab_is_one_file(tmp_path: Path) -> None:
    with open_lab(str(tmp_path / "lab.db"), create=True) as lab:
        whole_run(lab)
    assert [path.name for path in tmp_path.iterdir()] == ["lab.db"]


def test_every_commit_of_a_sqlite_lab_is_synced(sqlite_lab: Lab) -> None:
    with sqlite_lab.reading() as connection:
        pragmas = [
            connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 2, 1]


def test_commits_of_a_postgresql_lab_are_synced_even_where_the_server_would_not(postgresql_lab: str) -> None:
    with open_lab(postgresql_lab, create=True) as lab, lab.writing() as connection:
        name = connection.execute(text("SELECT current_database()")).scalar()
        connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
    with open_lab(postgresql_lab) as lab, lab.reading() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_a_lab_of_a_later_tare_is_refused(where: str) -> None:
    with open_lab(where, create=True) as lab, lab.writing() as connection:
        connection.execute(text("UPDATE lab_version SET version_num = '0999'"))
    with pytest.raises(LabTooNew, match="0999") as refusal:
        open_lab(where)
    assert "pip install" in refusal.value.next_step


def test_text_is_no_lab(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("these are notes, and there are many of them")
    with pytest.raises(LabError, match="not a SQLite file"):
        open_lab(str(file), create=True)
    assert file.read_text().startswith("these are notes")


def test_a_folder_is_no_lab(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="not a file"):
        open_lab(str(tmp_path))


def test_another_programs_database_is_no_lab_and_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE run (id integer, who text)")
    connection.close()
    with pytest.raises(LabError, match="other tables"):
        open_lab(str(file), create=True)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("run",)]
    connection.close()


def test_a_schema_with_tables_of_our_names_is_no_lab(postgresql_lab: str) -> None:
    with open_lab(postgresql_lab, create=True) as lab, lab.writing() as connection:
        connection.execute(text("DROP TABLE lab_version"))
    with pytest.raises(LabError, match="other tables"):
        open_lab(postgresql_lab, create=True)


@pytest.mark.parametrize("keep", [100, 5_000])
def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path, keep: int) -> None:
    file = tmp_path / "lab.db"
    with open_lab(str(file), create=True) as lab:
        whole_run(lab)
    data = file.read_bytes()
    file.write_bytes(data[:keep] + b"\xa5" * (len(data) - keep))
    with pytest.raises(LabError, match="damaged"):
        open_lab(str(file))


def test_other_databases_cannot_be_labs() -> None:
    with pytest.raises(UsageError, match="cannot be a lab") as refusal:
        open_lab("mariadb://user:secret@localhost/db")
    assert "secret" not in str(refusal.value)


def test_a_server_that_is_away_is_said_to_be_away_without_the_password(free_port: int) -> None:
    with pytest.raises(LabLost) as refusal:
        open_lab(f"postgresql://user:verysecret@127.0.0.1:{free_port}/db", create=True)
    assert "verysecret" not in str(refusal.value)
    assert str(free_port) in refusal.value.what


def test_a_lab_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to read as another user")
    with open_lab(str(tmp_path / "lab.db"), create=True) as lab:
        whole_run(lab)
    nobody = 65534
    os.seteuid(nobody)
    try:
        with open_lab(str(tmp_path / "lab.db")) as lab:
            assert runs(lab)[0].qes == 6
            with pytest.raises(LabError, match="cannot be opened or written"):
                Recorder(lab).heartbeat(1)
    finally:
        os.seteuid(0)


def test_runs_are_found_by_id_and_by_the_beginning_of_their_uuid(lab: Lab) -> None:
    first, second = begun(lab)[1], begun(lab)[1]
    with lab.reading() as connection:
        uuids = connection.execute(text("SELECT uuid FROM run ORDER BY id")).scalars().all()
    assert find_runs(lab, [f"e{second}", uuids[0][:13], f"e{first}"]) == [second, first]


@pytest.mark.parametrize("asked", ["e7", "1", "o1", "p1", "nothing", "", "-1", "1e3", "e²", "e" + "9" * 30])
def test_a_run_that_is_not_there_is_named(lab: Lab, asked: str) -> None:
    begun(lab)
    with pytest.raises(NoSuchRun, match="has no run"):
        find_runs(lab, [asked])


def test_a_beginning_that_several_runs_share_is_refused(lab: Lab) -> None:
    for _ in range(2):
        begun(lab)
    with lab.writing() as connection:
        connection.execute(text("UPDATE run SET uuid = 'abcd-' || id"))
    with pytest.raises(NoSuchRun, match="2 runs"):
        find_runs(lab, ["abcd"])
