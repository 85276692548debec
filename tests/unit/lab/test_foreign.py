"""An export that is damaged, altered or none is refused with its file and the reason, and nothing comes in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import func, select

from tare.errors import ForeignFile, LabTooNew
from tare.lab.exporting import export
from tare.lab.foreign import Export
from tare.lab.importing import import_
from tare.lab.parquet import sha256
from tare.lab.schema import metadata
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import whole_run


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs."""
    place = tmp_path_factory.mktemp("exported")
    with open_lab(str(place / "source.db"), create=True) as lab:
        export(lab, [whole_run(lab), whole_run(lab, qes=2)], place / "export")
    return place / "export"


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(exported, tmp_path / "export"))


@pytest.fixture
def untouched(sqlite_lab: Lab) -> Iterator[Lab]:
    """A lab that must be as empty at the end as it is now."""
    yield sqlite_lab
    is_empty(sqlite_lab)


def is_empty(lab: Lab) -> None:
    with lab.reading() as connection:
        for table in metadata.sorted_tables:
            assert connection.scalar(select(func.count()).select_from(table)) == 0, table.name


def refused(lab: Lab, folder: Path, *said: str) -> None:
    with pytest.raises(ForeignFile) as refusal, Export(folder) as found:
        import_(lab, found)
    for word in said:
        assert word in refusal.value.what
    assert refusal.value.next_step
    assert refusal.value.exit_code == 2


def redescribe(folder: Path, table: str) -> None:
    """Makes lab.json agree with a file that was changed: what a careful forger would do."""
    description = json.loads((folder / "lab.json").read_text())
    file = folder / f"{table}.parquet"
    with file.open("rb") as stream:
        description["tables"][table] = {
            "rows": pq.read_metadata(file).num_rows, "bytes": file.stat().st_size, "sha256": sha256(stream),
        }  # fmt: skip
    (folder / "lab.json").write_text(json.dumps(description))


def rewrite(folder: Path, table: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
    file = folder / f"{table}.parquet"
    found = pq.read_table(file)
    rows = found.to_pylist()
    change(rows)
    loose = pa.schema([field.with_nullable(True) for field in found.schema])
    pq.write_table(pa.Table.from_pylist(rows, schema=loose), file)
    redescribe(folder, table)


# Files -----------------------------------------------------------------------------------
def test_a_folder_without_a_description_is_no_export(untouched: Lab, tmp_path: Path) -> None:
    refused(untouched, tmp_path, "is no export", "lab.json")
    refused(untouched, tmp_path / "nowhere", "is no export")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"lab"', '{"format": "other"}', "null", "[" * 100_000, '{"format": "tare lab export"}'],
)
def test_a_damaged_description_is_refused(untouched: Lab, folder: Path, text: str) -> None:
    (folder / "lab.json").write_text(text)
    refused(untouched, folder, "lab.json is damaged")


@pytest.mark.parametrize("later", [{"version": 2}, {"schema": "9999"}])
def test_an_export_of_a_later_tare_is_refused(untouched: Lab, folder: Path, later: dict[str, Any]) -> None:
    description = json.loads((folder / "lab.json").read_text())
    (folder / "lab.json").write_text(json.dumps(description | later))
    with pytest.raises(LabTooNew, match="later Tare"):
        Export(folder)


@pytest.mark.parametrize("table", ["run", "qe", "process", "reading", "audit"])
def test_a_missing_file_is_named(untouched: Lab, folder: Path, table: str) -> None:
    (folder / f"{table}.parquet").unlink()
    refused(untouched, folder, f"{table}.parquet", "not there")


@pytest.mark.parametrize("place", [0, 100, -100, -1])
def test_a_flipped_bit_is_found(untouched: Lab, folder: Path, place: int) -> None:
    file = folder / "process.parquet"
    data = bytearray(file.read_bytes())
    data[place] ^= 0x10
    file.write_bytes(data)
    refused(untouched, folder, "process.parquet", "SHA-256")


def test_a_file_cut_short_is_found(untouched: Lab, folder: Path) -> None:
    file = folder / "qe.parquet"
    file.write_bytes(file.read_bytes()[:-200])
    refused(untouched, folder, "qe.parquet", "SHA-256")


def test_a_file_that_is_no_parquet_is_refused_even_where_the_description_agrees(
    untouched: Lab, folder: Path
) -> None:
    file = folder / "qe.parquet"
    description = json.loads((folder / "lab.json").read_text())
    file.write_bytes(b"PAR1 this is no Parquet PAR1")
    with file.open("rb") as stream:
        description["tables"]["qe"]["sha256"] = sha256(stream)
    (folder / "lab.json").write_text(json.dumps(description))
    refused(untouched, folder, "qe.parquet", "cannot be imported")


def test_damage_within_a_file_is_found_even_where_the_description_agrees(
    untouched: Lab, folder: Path
) -> None:
    file = folder / "qe.parquet"
    data = bytearray(file.read_bytes())
    data[4:2000] = b"\xa5" * 1996
    file.write_bytes(data)
    description = json.loads((folder / "lab.json").read_text())
    with file.open("rb") as stream:
        description["tables"]["qe"]["sha256"] = sha256(stream)
    (folder / "lab.json").write_text(json.dumps(description))
    refused(untouched, folder, "qe.parquet")


def test_another_number_of_rows_than_described_is_refused(untouched: Lab, folder: Path) -> None:
    description = json.loads((folder / "lab.json").read_text())
    description["tables"]["qe"]["rows"] = 11
    (folder / "lab.json").write_text(json.dumps(description))
    refused(untouched, folder, "qe.parquet", "10 rows", "11")


# Schema and values -------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["wall_ns"]),
        lambda table: table.append_column("extra", pa.array([1] * table.num_rows)),
        lambda table: table.set_column(
            table.schema.get_field_index("wall_ns"), "wall_ns", pa.array(["1"] * table.num_rows)
        ),
        lambda table: table.select(list(reversed(table.column_names))),
    ],
    ids=["a column less", "a column more", "another type", "another order"],
)
def test_another_schema_is_refused(untouched: Lab, folder: Path, change: Any) -> None:
    file = folder / "qe.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    redescribe(folder, "qe")
    refused(untouched, folder, "qe.parquet", "column")


@pytest.mark.parametrize(
    ("table", "column", "value", "why"),
    [
        ("query", "run_id", 99, "run_id 99 is in no row of run.parquet"),
        ("qatc", "query_id", 99, "query_id 99 is in no row of query.parquet"),
        ("qatc", "run_id", 2, "of another run than its query"),
        ("qe", "qatc_id", 99, "qatc_id 99 is in no row of qatc.parquet"),
        ("qe", "run_id", 2, "of another run than its qatc"),
        ("process", "qe_id", 99, "qe_id 99 is in no row of qe.parquet"),
        ("reading", "qe_id", 2, "the lab refuses a row"),
        ("run", "dbms_id", 99, "dbms_id 99 is in no row of dbms.parquet"),
        ("run", "state", "sleeping", "state is 'sleeping'"),
        ("qe", "outcome", "splendid", "outcome is 'splendid'"),
        ("process", "role", None, "role is NULL"),
        ("process", "fate", "unknown", "fate is 'unknown'"),
        ("qatc", "plan", "{not json", "plan is no JSON"),
        ("qe", "leader_why", "'", "leader_why is no JSON"),
        ("dbms", "settings", '{"work_mem": "1GB"}', "digest"),
        ("machine", "digest", "0000", "digest"),
        ("qe", "id", 2, "two rows have the id 2"),
        ("qe", "run_order", 1, "the lab refuses a row"),
        ("query", "id", 2, "two rows have the id 2"),
        ("run", "id", 2, "two rows have one id"),
    ],
)
def test_rows_that_do_not_fit_together_are_refused(
    untouched: Lab, folder: Path, table: str, column: str, value: object, why: str
) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0][column] = value

    rewrite(folder, table, change)
    refused(untouched, folder, f"{table}.parquet", why)


def test_two_runs_with_one_uuid_are_refused(untouched: Lab, folder: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[1]["uuid"] = rows[0]["uuid"]

    rewrite(folder, "run", change)
    refused(untouched, folder, "run.parquet", "uuid")


@pytest.mark.parametrize(
    ("table", "column", "value", "why"),
    [
        ("reading", "qe_id", 12_345, "12345"),
        ("reading", "qe_id", 1, "the lab refuses a row"),
        ("qe", "run_order", 1, "the lab refuses a row"),
    ],
)
def test_a_fault_in_a_late_row_takes_the_early_ones_back(
    folder: Path, lab: Lab, table: str, column: str, value: object, why: str
) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[-1][column] = value

    rewrite(folder, table, change)
    refused(lab, folder, f"{table}.parquet", why)
    is_empty(lab)


def test_threads_of_arrow_never_need_the_interpreter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that needs the interpreter while this ends aborts the process."""
    given: list[object] = []

    def opened(source: object) -> pq.ParquetFile:
        given.append(source)
        return pq.ParquetFile(source)

    monkeypatch.setattr("tare.lab.foreign.pq", SimpleNamespace(ParquetFile=opened))
    with Export(folder) as found:
        assert list(found.rows("run"))
    assert given
    assert all(
        isinstance(source, pa.NativeFile) and not isinstance(source, pa.PythonFile) for source in given
    )
