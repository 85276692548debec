"""Access paths that the benchmark's report reads out of real plans: each DBMS's own way to tuples, joins and groups.

The queries of one setting stand together, since another one is loaded anew.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tare.dbms.base import Session
from tare.report.wisconsin.access import Found, Grouping, Join, Way, found_in
from tare.report.wisconsin.access.base import END
from tare.workload.wisconsin.catalogue import catalogue
from tare.workload.wisconsin.catalogue import find as find_query
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.query import Class
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables
from tare.workload.wisconsin.work import Wisconsin

SPECS = {
    Generation.Y1983: WisconsinSpec(generation=Generation.Y1983),
    Generation.Y1993: WisconsinSpec(generation=Generation.Y1993, rows=(2_000,)),
}

Explained = Callable[[Generation, str], Found]


@pytest.fixture(scope="module")
def explained(dbms: str, writer_of: Callable[[str], Session]) -> Explained:
    """Lays the relations as the query wants them, and reads its plan."""
    session = writer_of(dbms)
    lies: tuple[Generation, str] | None = None

    def found(generation: Generation, name: str) -> Found:
        nonlocal lies
        work = Wisconsin(SPECS[generation])
        if lies != (generation, work.setting(name)):
            tables = WisconsinTables(session, SPECS[generation])
            tables.prepare()
            tables.settle(max(SPECS[generation].rows), work.setting(name))
            lies = generation, work.setting(name)
        return plan_of(session, work, generation, name)

    return found


def plan_of(session: Session, work: Wisconsin, generation: Generation, name: str) -> Found:
    trial = work.trial(name, "", session.server.dbms, max(SPECS[generation].rows), 2)
    for sql in trial.before:
        session.run(sql)
    root = session.explain(trial.sql).root
    for sql in trial.after:
        session.run(sql)
    found = found_in(session.server.dbms, root.as_json(), find_query(generation, name))
    assert found is not None
    return found


def test_on_a_heap_every_tuple_is_scanned(explained: Explained) -> None:
    for query in catalogue(Generation.Y1993):
        if query.organisation is Organisation.HEAP and query.klass in (Class.SELECTION, Class.PROJECTION):
            found = explained(query.generation, query.name)
            assert [one.way for one in found.accesses] == [Way.SCAN], query.name


def test_without_an_index_the_minimum_is_looked_for(explained: Explained, dbms: str) -> None:
    (access,) = explained(Generation.Y1993, "q20").accesses
    assert access.way is (Way.STATISTICS if dbms == "duckdb" else Way.SCAN)


def test_joins_without_indexes_are_each_dbmss_own(explained: Explained, dbms: str) -> None:
    for name, joins in (("q9", 1), ("q10", 1), ("q11", 2)):
        found = explained(Generation.Y1993, name)
        assert len(found.joins) == joins, name
        assert {*found.joins} <= {
            "postgresql": {Join.HASH, Join.MERGE},
            "postgresql15": {Join.HASH, Join.MERGE},
            "mariadb": {Join.NESTED, Join.HASH},
            "sqlite": {Join.INDEX},
            "duckdb": {Join.HASH},
        }[dbms], name
        assert found.uses(Way.BUILT) == (dbms == "sqlite"), "SQLite builds an index for the query"


def test_duplicates_are_removed_in_each_dbmss_own_way(explained: Explained, dbms: str) -> None:
    assert (
        explained(Generation.Y1993, "q18").grouping
        is {
            "postgresql": Grouping.HASH,
            "postgresql15": Grouping.HASH,
            "mariadb": Grouping.TEMPORARY,
            "sqlite": Grouping.BTREE,
            "duckdb": Grouping.HASH,
        }[dbms]
    )


def test_every_plan_but_an_appends_tells_something(explained: Explained) -> None:
    heaps_first = sorted(
        catalogue(Generation.Y1993), key=lambda one: one.organisation is not Organisation.HEAP
    )
    for query in heaps_first:
        if query.operation != "append":
            assert explained(query.generation, query.name).text, query.name


def test_few_tuples_are_found_by_the_index_on_their_key(explained: Explained, dbms: str) -> None:
    """DuckDB decides when the statement runs: its plan cannot tell."""
    untold = dbms == "duckdb"
    for name, way, attribute in (("q7", Way.CLUSTERED, "unique2"), ("q5", Way.NONCLUSTERED, "unique1")):
        (access,) = explained(Generation.Y1993, name).accesses
        assert (access.way, access.attribute) == (Way.UNTOLD if untold else way, attribute), name


def test_the_minimum_of_a_key_comes_from_where_each_dbms_keeps_it(explained: Explained, dbms: str) -> None:
    (access,) = explained(Generation.Y1993, "q23").accesses
    assert (access.way, access.by) == {
        "postgresql": (Way.INDEX_ONLY, ""),
        "postgresql15": (Way.INDEX_ONLY, ""),
        "mariadb": (Way.INDEX_ONLY, END),
        "sqlite": (Way.CLUSTERED, END),
        "duckdb": (Way.STATISTICS, ""),
    }[dbms]


def test_a_hash_index_is_told_from_a_tree(explained: Explained, dbms: str) -> None:
    if not dbms.startswith("postgresql"):
        pytest.skip(f"{dbms} has no hash index")
    found = explained(Generation.Y1983, "select_1tuple_screen_hash")
    assert [one.way for one in found.accesses] == [Way.HASH]
