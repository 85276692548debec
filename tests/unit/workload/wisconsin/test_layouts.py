"""How each DBMS stores the relations: the texts that are run, and what a reader is told of them."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.layout import Setting, layout_of, setting_of
from tare.workload.wisconsin.relations import relation

DBMSES = ("postgresql", "mariadb", "mysql", "sqlite", "duckdb")
LARGE = relation(Generation.Y1993, "tenktup1")


@pytest.mark.parametrize("dbms", DBMSES)
def test_what_was_built_is_said_in_sentences_that_others_can_join(dbms: str) -> None:
    layout = layout_of(dbms)
    for setting in Setting:
        for sentence in layout.stands_in(setting):
            assert sentence.partition(":")[0] in {"heap", "clustered index", "non-clustered index", "hash"}
            assert not sentence.endswith(".")
    assert any("clustered" in sentence for sentence in layout.stands_in(Setting.INDEXED))


def test_clustered_and_non_clustered_queries_meet_the_same_tables() -> None:
    assert setting_of(Organisation.CLUSTERED) is setting_of(Organisation.NONCLUSTERED) is Setting.INDEXED
    assert {setting_of(organisation) for organisation in Organisation} == set(Setting)


@pytest.mark.parametrize("dbms", DBMSES)
def test_only_postgresql_has_a_hash_organisation(dbms: str) -> None:
    layout = layout_of(dbms)
    assert (layout.lacking(Organisation.HASH) is None) == (dbms == "postgresql")
    assert bool(layout.indexes(LARGE, Setting.HASH)) == (dbms == "postgresql")
    assert all(layout.lacking(one) is None for one in Organisation if one is not Organisation.HASH)


@pytest.mark.parametrize("dbms", DBMSES)
def test_the_clustering_key_is_there_once_as_the_table_itself_or_as_an_index(dbms: str) -> None:
    layout = layout_of(dbms)
    indexes = " ".join(layout.indexes(LARGE, Setting.INDEXED))
    assert (layout.primary(Setting.INDEXED) is None) == ("(unique2)" in indexes)
    assert "UNIQUE INDEX tenktup1_unique1 ON tenktup1 (unique1)" in indexes
    assert "CREATE INDEX tenktup1_onePercent ON tenktup1 (onePercent)" in indexes


@pytest.mark.parametrize("dbms", DBMSES)
def test_a_heap_has_neither_key_nor_index(dbms: str) -> None:
    layout = layout_of(dbms)
    assert layout.indexes(LARGE, Setting.HEAP) == ()
    assert layout.primary(Setting.HEAP) is None
    assert "PRIMARY KEY" not in layout.create("tenktup1", LARGE.attributes)


@pytest.mark.parametrize("dbms", DBMSES)
def test_the_third_index_of_1983_is_on_hundred(dbms: str) -> None:
    indexes = layout_of(dbms).indexes(relation(Generation.Y1983, "tenthoustup"), Setting.INDEXED)
    assert indexes[-1] == "CREATE INDEX tenthoustup_hundred ON tenthoustup (hundred)"


def test_a_dbms_without_a_layout_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(UsageError, match="oracle") as refused:
        layout_of("oracle")
    assert "duckdb" in refused.value.next_step
