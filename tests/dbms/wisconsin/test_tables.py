"""The benchmark's relations in each DBMS: every tuple at its place, in each setting, and never half a table.

The tests of a DBMS share a database. Those of one setting stand together, since another one is loaded anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tare.dbms.base import Session
from tare.errors import ExportFailed, ForeignTable, NotEnoughDisk, StatementFailed
from tare.experiment.ledger import Ledger, exists, rows
from tare.workload.wisconsin import laying, space
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.layout import Layout, Setting, layout_of
from tare.workload.wisconsin.relations import Relation, relation, relations
from tare.workload.wisconsin.results import results
from tare.workload.wisconsin.rows import tuples, write_csv
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables, replace_foreign
from tests.dbms.databases import drop_tables

ROWS = 2_000
SPEC = WisconsinSpec(generation=Generation.Y1993, rows=(ROWS, 1_000))
LARGE = relation(Generation.Y1993, "tenktup1")
OF_1983 = WisconsinSpec(generation=Generation.Y1983)


@pytest.fixture
def writer(dbms: str, writer_of: Callable[[str], Session]) -> Session:
    return writer_of(dbms)


@pytest.fixture
def layout(writer: Session) -> Layout:
    return layout_of(writer.server.dbms)


@pytest.fixture
def tables(writer: Session) -> WisconsinTables:
    made = WisconsinTables(writer, SPEC)
    made.prepare()
    return made


@lru_cache
def generated(relation: Relation, large: int) -> list[tuple[Any, ...]]:
    return list(tuples(relation, large))


def loaded_by(writer: Session, spec: WisconsinSpec, cardinality: int, setting: Setting) -> list[str]:
    """Tables that another executor has to load."""
    return settled_by(writer, spec, cardinality, setting)[0]


def settled_by(
    writer: Session, spec: WisconsinSpec, cardinality: int, setting: Setting
) -> tuple[list[str], tuple[str, ...]]:
    """Tables that another executor has to load, and the facts that it then reports."""
    heard: list[str] = []
    again = WisconsinTables(writer, spec, lambda table, done, of: heard.append(table) if done == 0 else None)
    again.prepare()
    again.settle(cardinality, setting)
    return heard, again.facts()


def settings_of(layout: Layout) -> list[Setting]:
    return [*(Setting.HEAP, Setting.INDEXED), *([] if layout.lacking(Organisation.HASH) else [Setting.HASH])]


def test_each_setting_has_its_tuples_and_indexes_in_the_estimated_room(
    tables: WisconsinTables, writer: Session, layout: Layout
) -> None:
    indexes = {
        Setting.HEAP: 0,
        Setting.INDEXED: 2 if layout.primary(Setting.INDEXED) else 3,
        Setting.HASH: 1,
    }
    for setting in settings_of(layout):
        tables.settle(ROWS, setting)
        for one in relations(Generation.Y1993):
            found = rows(writer, f"SELECT * FROM {one.name} ORDER BY unique2")
            assert found == generated(one, ROWS), (setting, one.name)
        assert rows(writer, layout.index_count("tenktup1")) == [(indexes[setting],)], setting
        load = tables.loads()["tenktup1"]
        assert (load.occupied is None) == (writer.server.dbms == "duckdb")
        if load.occupied is not None:
            assert 0 < load.occupied <= space.occupied(layout, LARGE, ROWS), setting
            assert load.occupied > ROWS * layout.tuple_bytes / 2, setting
        facts = tables.facts()
        if setting is Setting.INDEXED:
            assert any("clustered" in sentence for sentence in facts)
        assert f"{setting} at {ROWS:,} rows: {22 * ROWS // 10:,} tuples in 4 relations" in facts[-1]
        assert settled_by(writer, SPEC, ROWS, setting) == ([], facts), "what is there is left alone"
        if setting is Setting.HASH:
            found = rows(writer, "SELECT indexdef FROM pg_indexes WHERE tablename = 'tenktup1'")
            assert "USING hash (unique2)" in str(found)
    tables.settle(ROWS, Setting.HEAP)
    assert rows(writer, layout.index_count("tenktup1")) == [(0,)]


def test_the_reason_for_a_lacking_organisation_is_given(writer: Session, layout: Layout) -> None:
    lacking = layout.lacking(Organisation.HASH)
    assert lacking is None if writer.server.dbms == "postgresql" else "no hash index" in str(lacking)
    assert layout.lacking(Organisation.CLUSTERED) is None


def test_a_heap_is_scanned_in_the_order_of_loading(tables: WisconsinTables, writer: Session) -> None:
    tables.settle(ROWS, Setting.HEAP)
    assert rows(writer, "SELECT * FROM tenktup2") == generated(relation(Generation.Y1993, "tenktup2"), ROWS)


def test_both_generations_stand_in_one_database(tables: WisconsinTables, writer: Session) -> None:
    tables.settle(ROWS, Setting.HEAP)
    other = WisconsinTables(writer, OF_1983)
    other.prepare()
    other.settle(10_000, Setting.HEAP)
    assert loaded_by(writer, SPEC, ROWS, Setting.HEAP) == []


def test_the_relations_of_1983_have_their_tuples_and_bprime_the_first_of_the_second_large_one(
    writer: Session,
) -> None:
    made = WisconsinTables(writer, OF_1983)
    made.prepare()
    made.settle(10_000, Setting.HEAP)
    heard = loaded_by(writer, OF_1983, 10_000, Setting.INDEXED)
    assert "tempbprime" not in heard, "it never has indexes"
    assert "tenthoustup" in heard
    for one in relations(Generation.Y1983):
        assert rows(writer, f"SELECT * FROM {one.name} ORDER BY unique2") == generated(one, 10_000)
    beginning = rows(writer, "SELECT * FROM tenthoustup2 WHERE unique2 < 1000 ORDER BY unique2")
    assert rows(writer, "SELECT * FROM tempbprime ORDER BY unique2") == beginning


DAMAGE = {
    "a tuple gone": "DELETE FROM tenktup1 WHERE unique2 = 17",
    "a value changed": "UPDATE tenktup1 SET ten = ten + 1 WHERE unique2 = 999",
    "a string changed": "UPDATE tenktup1 SET string4 = 'B' WHERE unique2 = 999",
    "a tuple twice": "INSERT INTO tenktup1 SELECT * FROM tenktup1 WHERE unique2 = 5",
    "a tuple taken out and put back": "CREATE TABLE one AS SELECT * FROM tenktup1 WHERE unique2 = 400; "
    "DELETE FROM tenktup1 WHERE unique2 = 400; INSERT INTO tenktup1 SELECT * FROM one; DROP TABLE one",
    "the table gone": "DROP TABLE tenktup1",
}


def test_a_relation_that_somebody_changed_is_loaded_anew(tables: WisconsinTables, writer: Session) -> None:
    """Also where the tuples are the same, and one lies elsewhere."""
    tables.settle(ROWS, Setting.HEAP)
    for damage, sql in DAMAGE.items():
        writer.run(sql)
        assert loaded_by(writer, SPEC, ROWS, Setting.HEAP) == ["tenktup1"], damage
        found = rows(writer, "SELECT * FROM tenktup1 ORDER BY unique2")
        assert found == generated(LARGE, ROWS), damage


def test_a_heap_takes_a_key_twice_and_an_index_does_not(tables: WisconsinTables, writer: Session) -> None:
    names = [attribute.name for attribute in LARGE.attributes]
    again = []
    for other in ("unique1", "unique2"):
        values = ", ".join(f"{other} + 100000" if name == other else name for name in names)
        again.append(f"INSERT INTO tenktup1 SELECT {values} FROM tenktup2 WHERE unique2 = 7")
    tables.settle(ROWS, Setting.HEAP)
    for sql in again:
        writer.run(sql)
    assert rows(writer, "SELECT count(*) FROM tenktup1") == [(ROWS + 2,)]
    tables.settle(ROWS, Setting.INDEXED)
    for sql in again:
        with pytest.raises(StatementFailed):
            writer.run(sql)


def test_a_relation_is_loaded_anew_once_an_index_is_gone(
    tables: WisconsinTables, writer: Session, dbms: str
) -> None:
    tables.settle(ROWS, Setting.INDEXED)
    writer.run("DROP INDEX tenktup1_unique1" + (" ON tenktup1" if dbms == "mariadb" else ""))
    assert loaded_by(writer, SPEC, ROWS, Setting.INDEXED) == ["tenktup1"]


def test_a_load_that_was_cut_short_is_never_used(
    tables: WisconsinTables, writer: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(of: Relation, large: int, to: Path) -> int:
        if of.name != "tenktup1":
            return write_csv(of, large, to)
        whole = to.with_name("whole.csv")
        write_csv(of, large, whole)
        lines = whole.read_text().splitlines(keepends=True)
        with to.open("w") as pipe:
            pipe.writelines(lines[: large // 2])
        raise ExportFailed("the generator was stopped")

    tables.settle(ROWS, Setting.INDEXED)
    writer.run("DROP TABLE tenktup1")
    with monkeypatch.context() as patched:
        patched.setattr(laying, "write_csv", half)
        with pytest.raises(ExportFailed, match="was stopped"):
            tables.settle(ROWS, Setting.INDEXED)
    entry = Ledger(writer).entry("tenktup1")
    assert entry is not None
    assert not entry.whole
    assert loaded_by(writer, SPEC, ROWS, Setting.INDEXED) == ["tenktup1"]
    assert rows(writer, "SELECT count(*) FROM tenktup1") == [(ROWS,)]


def test_result_relations_are_there_empty_and_take_the_same_tuple_twice(
    tables: WisconsinTables, writer: Session, layout: Layout
) -> None:
    tables.settle(ROWS, Setting.INDEXED)
    name = next(name for name, its in results(Generation.Y1993).items() if len(its) == len(LARGE.attributes))
    for _ in range(2):
        writer.run(f"INSERT INTO {name} SELECT * FROM tenktup1 WHERE unique2 < 100")
    assert rows(writer, f"SELECT count(*) FROM {name}") == [(200,)]
    writer.run(layout.emptied(name))
    assert rows(writer, f"SELECT count(*) FROM {name}") == [(0,)]
    writer.run(f"INSERT INTO {name} SELECT * FROM tenktup1 WHERE unique2 < 100")
    tables.settle(ROWS, Setting.INDEXED)
    for one in results(Generation.Y1993):
        assert rows(writer, f"SELECT count(*) FROM {one}") == [(0,)]


def test_another_size_and_another_setting_are_loaded_anew(tables: WisconsinTables, writer: Session) -> None:
    every = [one.name for one in relations(Generation.Y1993)]
    tables.settle(ROWS, Setting.INDEXED)
    assert loaded_by(writer, SPEC, 1_000, Setting.INDEXED) == every
    assert rows(writer, "SELECT count(*) FROM tenktup1") == [(1_000,)]
    assert rows(writer, "SELECT count(*) FROM bprime") == [(100,)]
    assert loaded_by(writer, SPEC, 1_000, Setting.HEAP) == every


def test_what_cannot_be_made_is_refused_before_anything_is_touched(
    writer: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A size that the disk cannot hold, and a table that Tare did not make."""
    drop_tables(writer)
    with monkeypatch.context() as patched:
        patched.setattr(space, "SMALL_TABLE", 10**15)
        with pytest.raises(NotEnoughDisk, match="GB are free"):
            WisconsinTables(writer, SPEC).prepare()
    assert not exists(writer, "tenktup1")
    writer.run("CREATE TABLE bprime (precious INTEGER); INSERT INTO bprime VALUES (42)")
    with pytest.raises(ForeignTable, match="bprime") as refused:
        WisconsinTables(writer, SPEC).prepare()
    assert "--replace" in refused.value.next_step
    assert rows(writer, "SELECT precious FROM bprime") == [(42,)]
    assert not exists(writer, "tenktup1")


def test_with_leave_the_foreign_table_goes_and_no_other(writer: Session) -> None:
    drop_tables(writer)
    writer.run("CREATE TABLE bprime (precious INTEGER); CREATE TABLE thoustup (precious INTEGER)")
    assert replace_foreign(writer, SPEC) == ["bprime"]
    assert exists(writer, "thoustup")
    made = WisconsinTables(writer, SPEC)
    made.prepare()
    made.settle(1_000, Setting.HEAP)
    assert replace_foreign(writer, SPEC) == []
    assert rows(writer, "SELECT count(*) FROM bprime") == [(100,)]
