"""The benchmark's queries, each variant run on plain tables: they give what their definition says."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from tare.measure.answer import answer_hash
from tare.workload.wisconsin.catalogue import catalogue, chosen, find, names
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.mistakes import wisconsin_mistakes
from tare.workload.wisconsin.naming import NAMING, VARIANTS
from tare.workload.wisconsin.published import TABLES
from tare.workload.wisconsin.query import Class, Variant, WisconsinQuery
from tare.workload.wisconsin.relations import relations
from tare.workload.wisconsin.results import results
from tare.workload.wisconsin.specification import WisconsinSpec
from tests.wisconsin import plain_relations

ROWS = 10_000
SIZES = [(Generation.Y1983, ROWS), (Generation.Y1993, 1_000), (Generation.Y1993, ROWS)]
EVERY = [(generation, query.name) for generation in Generation for query in catalogue(generation)]

FIXED = {Class.JOIN, Class.PROJECTION, Class.AGGREGATE}
"""Two statements, by turns: they have no constant, or those that are printed."""


@lru_cache
def filled(generation: Generation, rows: int) -> sqlite3.Connection:
    return plain_relations(generation, rows)


def state(database: sqlite3.Connection, generation: Generation) -> dict[str, list[tuple[object, ...]]]:
    """Count and sums of each relation, which show a changed, missing or doubled key."""
    return {
        relation.name: database.execute(
            f"SELECT count(*), sum(unique1), sum(unique2), sum(unique1 * unique2) FROM {relation.name}"
        ).fetchall()
        for relation in relations(generation)
    }


def left_behind(database: sqlite3.Connection, variant: Variant) -> tuple[int, list[tuple[object, ...]]]:
    """Rows given or changed, and the answer, once all is put back."""
    for sql in variant.setup:
        database.execute(sql)
    try:
        cursor = database.execute(variant.sql)
        rows = cursor.fetchall()
        changed = len(rows) if cursor.description is not None else cursor.rowcount
        if variant.into is not None:
            rows = database.execute(f"SELECT * FROM {variant.into}").fetchall()
        return changed, rows
    finally:
        for sql in variant.undo:
            database.execute(sql)
        if variant.into is not None:
            database.execute(f"DELETE FROM {variant.into}")


@pytest.fixture(params=SIZES, ids=[f"{generation} at {rows}" for generation, rows in SIZES])
def sized(request: pytest.FixtureRequest) -> tuple[Generation, int]:
    generation, rows = request.param
    return generation, rows


def variants(sized: tuple[Generation, int]) -> Iterator[tuple[WisconsinQuery, Variant]]:
    generation, rows = sized
    for query in catalogue(generation):
        for variant in query.variants(rows):
            yield query, variant


def test_every_variant_gives_the_rows_of_its_definition(sized: tuple[Generation, int]) -> None:
    database = filled(*sized)
    for query, variant in variants(sized):
        changed, found = left_behind(database, variant)
        assert changed == variant.rows, f"{query.name}: {variant.sql}"
        if variant.into is not None:
            assert len(found) == variant.rows, f"{query.name}: {variant.sql}"


def test_aggregates_give_the_values_of_their_definition(sized: tuple[Generation, int]) -> None:
    database, seen = filled(*sized), 0
    for query, variant in variants(sized):
        assert (variant.defined is not None) == (query.klass is Class.AGGREGATE)
        if variant.defined is not None:
            _, found = left_behind(database, variant)
            assert answer_hash(found) == answer_hash(variant.defined), f"{query.name}: {variant.sql}"
            seen += 1
    assert seen == 6 * VARIANTS


def test_updates_can_be_undone_also_where_nothing_was_done(sized: tuple[Generation, int]) -> None:
    generation, _ = sized
    database = filled(*sized)
    loaded = state(database, generation)
    for query, variant in variants(sized):
        assert (variant.changes is not None) == (query.klass is Class.UPDATE)
        if variant.changes is None:
            continue
        for sql in variant.undo:
            database.execute(sql)
        assert state(database, generation) == loaded, f"{query.name}: undo alone does harm"
        left_behind(database, variant)
        assert state(database, generation) == loaded, f"{query.name}: {variant.undo}"


def test_an_update_really_changes_its_relation_until_it_is_undone(sized: tuple[Generation, int]) -> None:
    database = filled(*sized)
    for query, variant in variants(sized):
        if variant.changes is None:
            continue
        for sql in variant.setup:
            database.execute(sql)
        before = state(database, sized[0])
        database.execute(variant.sql)
        after = state(database, sized[0])
        for sql in variant.undo:
            database.execute(sql)
        different = {name for name in before if before[name] != after[name]}
        assert different == {variant.changes}, f"{query.name}: {variant.sql}"


@pytest.mark.parametrize(("generation", "name"), EVERY)
def test_ten_variants_go_to_either_relation_in_turn(generation: Generation, name: str) -> None:
    query, naming = find(generation, name), NAMING[generation]
    found = query.variants(ROWS)
    assert len(found) == VARIANTS
    if query.operation == "project_100pct" and generation is Generation.Y1983:
        assert {variant.sql for variant in found} == {found[0].sql}  # ten copies, of the small relation
        return
    for turn, variant in enumerate(found):
        named = [word for word in re.findall(r"\w+", variant.sql) if word in naming.twins]
        first = re.search(rf"\bFROM (?:{naming.tenth}, )?(\w+)", variant.sql)
        subject = first.group(1) if first else named[0]
        assert subject == naming.twins[turn % 2]
    at_the_edge = query.operation == "select_100pct" or query.name in ("q1", "q3", "q5", "q8")
    repeated = at_the_edge or query.klass in FIXED
    assert len({variant.sql for variant in found}) == (2 if repeated else VARIANTS)


@pytest.mark.parametrize(("generation", "name"), EVERY)
def test_no_bound_of_a_range_excludes_nothing_in_some_variants_only(
    generation: Generation, name: str
) -> None:
    """DuckDB leaves such a bound out, and then the variants would not have one plan."""
    at_an_edge = set()
    for variant in find(generation, name).variants(ROWS):
        for least, greatest in re.findall(r"BETWEEN (\d+) AND (\d+)", variant.sql):
            at_an_edge.add((int(least) == 0, int(greatest) == ROWS - 1))
    assert len(at_an_edge) <= 1


def test_a_result_is_taken_by_a_relation_of_tares_own(sized: tuple[Generation, int]) -> None:
    generation, _ = sized
    for _, variant in variants(sized):
        written = re.match(r"INSERT INTO (\w+) SELECT", variant.sql)
        assert (written.group(1) if written else None) == variant.into
        if variant.into is not None:
            assert variant.into in results(generation)
            assert variant.into.startswith("tare_result_")


def test_both_generations_fit_into_one_database() -> None:
    def tables(generation: Generation) -> set[str]:
        return {*results(generation), *(one.name for one in relations(generation))}

    assert not tables(Generation.Y1983) & tables(Generation.Y1993)


# What the papers say --------------------------------------------------------------------------
def test_each_column_of_the_eleven_tables_has_its_query() -> None:
    columns = [(table.number, column.key) for table in TABLES for column in table.columns]
    told = [query.published for query in catalogue(Generation.Y1983) if query.published is not None]
    assert Counter(told) == Counter(columns)


def test_1983_has_every_class_over_its_organisations() -> None:
    organisations: dict[str, set[Organisation]] = {}
    for query in catalogue(Generation.Y1983):
        organisations.setdefault(query.operation, set()).add(query.organisation)
    indexed = {Organisation.HEAP, Organisation.CLUSTERED, Organisation.NONCLUSTERED}
    for percent in (1, 10, 20, 50, 100):
        assert organisations[f"select_{percent}pct"] == indexed
    assert organisations["select_1tuple_screen"] == set(Organisation)
    for join in ("joinAselB", "joinABprime", "joinCselAselB", "joinSelAselB"):
        assert organisations[join] == indexed
    for operation in ("min_scalar", "append", "delete", "modify_key", "modify_nonkey"):
        assert len(organisations[operation]) == 2


def test_1993_has_its_32_queries_in_their_order() -> None:
    assert [query.number for query in catalogue(Generation.Y1993)] == list(range(1, 33))


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("q1", ROWS, "tenktup1 WHERE unique2 BETWEEN 0 AND 99"),
        ("q6", ROWS, "tenktup1 WHERE unique1 BETWEEN 792 AND 1791"),
        ("q6", 1_000_000, "tenktup1 WHERE unique1 BETWEEN 79200 AND 179199"),
        ("q7", ROWS, "tenktup1 WHERE unique2 = 2001"),
        ("q7", 100_000, "tenktup1 WHERE unique2 = 20010"),
        ("q15", ROWS, "tenktup1.unique1 = tenktup2.unique1 AND tenktup2.unique1 < 1000"),
        ("q17", ROWS, "tenktup2.unique1 < 1000 AND tenktup1.unique1 < 1000"),
        ("q24", ROWS, "SELECT MIN(unique3) FROM tenktup1 GROUP BY onePercent"),
        ("q26", ROWS, "INSERT INTO tenktup1 VALUES (10001, 10001, "),
        ("q27", ROWS, "DELETE FROM tenktup1 WHERE unique1 = 10001"),
        ("q31", ROWS, "UPDATE tenktup1 SET unique2 = 10001 WHERE unique2 = 1491"),
        ("q32", ROWS, "UPDATE tenktup1 SET unique1 = 10001 WHERE unique1 = 1491"),
    ],
)
def test_the_first_variant_has_the_constants_of_1993_in_proportion(name: str, rows: int, told: str) -> None:
    assert told in find(Generation.Y1993, name).variants(rows)[0].sql


def test_a_projection_on_few_values_keeps_400_of_10000_tuples() -> None:
    assert {one.rows for one in find(Generation.Y1993, "q18").variants(ROWS)} == {400}


def test_definitions_hold_at_the_largest_size_without_its_tuples() -> None:
    largest = 100_000_000
    for query in catalogue(Generation.Y1993):
        assert len(query.variants(largest)) == VARIANTS
    sums = find(Generation.Y1993, "q22").variants(largest)[0].defined
    assert sums is not None
    assert sum(int(str(value)) for (value,) in sums) == largest * (largest - 1) // 2


# What a specification asks for -----------------------------------------------------------------
def test_queries_are_chosen_by_name_class_and_organisation() -> None:
    def asked(*queries: str, organisations: tuple[Organisation, ...] = tuple(Organisation)) -> list[str]:
        spec = WisconsinSpec(generation=Generation.Y1993, queries=queries, organisations=organisations)
        return [query.name for query in chosen(spec)]

    assert len(asked()) == 32
    assert asked("q9", "projection") == ["q9", "q18", "q19"]
    assert asked("aggregate", organisations=(Organisation.CLUSTERED,)) == ["q23"]


def test_a_choice_that_leaves_no_query_is_a_mistake_of_the_specification() -> None:
    spec = WisconsinSpec(generation=Generation.Y1993, organisations=(Organisation.HASH,))
    assert [said for _, said in wisconsin_mistakes(spec)] == [
        "no query of the 1993 benchmark is left: none of those asked for has an organisation among hash"
    ]


def test_names_are_unique_and_no_class_is_called_like_a_query() -> None:
    for generation in Generation:
        assert len(set(names(generation))) == len(names(generation))
