"""The benchmark as a run's work: which variant a QE is, and what stands around it."""

from __future__ import annotations

import pytest

from tare.experiment.specification import Specification
from tare.experiment.specified_work import work_of
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.work import Wisconsin

ALL_DBMSES = ("postgresql", "mariadb", "sqlite", "duckdb")


def wisconsin(generation: Generation = Generation.Y1993, *rows: int) -> Wisconsin:
    return Wisconsin(WisconsinSpec(generation=generation, rows=rows or (10_000,)))


def test_the_eleventh_qe_is_the_first_variant_again() -> None:
    work = wisconsin()
    sql = [work.trial("q4", "", "sqlite", 10_000, turn).sql for turn in range(1, 12)]
    assert len(set(sql)) == 10
    assert sql[10] == sql[0]


def test_the_lab_has_all_ten_variants_of_a_query_at_the_largest_size() -> None:
    work = wisconsin(Generation.Y1993, 1_000, 100_000)
    q3 = next(query for query in work.queries() if query.name == "q3")
    found = q3.sql.split(";\n")
    assert found == [work.trial("q3", "", "sqlite", 100_000, turn).sql for turn in range(1, 11)]
    assert list(work.sizes.cardinalities) == [100_000, 1_000]


def test_constants_follow_the_size_of_the_halt() -> None:
    work = wisconsin(Generation.Y1993, 1_000, 100_000)
    assert "BETWEEN 0 AND 9 " in work.trial("q3", "", "sqlite", 1_000, 1).sql + " "
    assert work.trial("q3", "", "sqlite", 100_000, 1).rows == 1_000


def test_a_result_relation_is_emptied_first_and_read_back_after() -> None:
    trial = wisconsin().trial("q3", "", "sqlite", 10_000, 1)
    assert trial.before == ["DELETE FROM tare_result_1993_selection"]
    assert trial.answer == "SELECT * FROM tare_result_1993_selection"


def test_of_a_large_result_a_digest_is_compared() -> None:
    answer = wisconsin(Generation.Y1993, 100_000).trial("q19", "", "sqlite", 100_000, 1).answer
    assert answer is not None
    assert answer.startswith("SELECT COUNT(*), SUM(two), ")
    assert "MAX(stringu1)" in answer


def test_rows_to_the_screen_are_the_answer_themselves() -> None:
    trial = wisconsin().trial("q8", "", "sqlite", 10_000, 1)
    assert (trial.before, trial.answer, trial.unchanged) == ([], None, None)


@pytest.mark.parametrize("name", ["q26", "q27", "q28", "q31", "q32"])
def test_an_update_begins_with_its_undo_and_ends_with_it(name: str) -> None:
    """A run that was cut short in the middle of one goes on from the relations as they were loaded."""
    trial = wisconsin().trial(name, "", "postgresql", 10_000, 1)
    assert trial.after
    assert list(trial.before[: len(trial.after)]) == list(trial.after)
    assert trial.unchanged is not None


def test_the_tuple_to_delete_is_no_part_of_what_must_stay() -> None:
    trial = wisconsin().trial("q27", "", "postgresql", 10_000, 1)
    assert trial.before[-1].startswith("INSERT INTO tenktup1 VALUES (10001, ")
    assert trial.unchanged == (
        "SELECT COUNT(*), SUM(unique1), SUM(unique2) FROM tenktup1 WHERE NOT (unique1 = 10001)"
    )


def test_queries_of_one_setting_are_run_together() -> None:
    work = wisconsin(Generation.Y1983)
    assert work.setting("joinAselB_heap") == "heap"
    assert work.setting("joinAselB_clustered") == work.setting("sjoinAselB_nonclustered") == "indexed"
    assert work.setting("select_1tuple_screen_hash") == "hash"


def test_a_dbms_without_hash_indexes_says_so_and_runs_the_rest() -> None:
    work = wisconsin(Generation.Y1983)
    lacking = {dbms: work.lacking("select_1tuple_screen_hash", dbms) for dbms in ALL_DBMSES}
    assert lacking["postgresql"] is None
    assert all("hash index" in str(lacking[dbms]) for dbms in ("mariadb", "sqlite", "duckdb"))
    assert all(work.lacking("select_1tuple_screen_clustered", dbms) is None for dbms in ALL_DBMSES)


def test_relations_that_are_alike_and_their_indexes_have_one_name_in_a_plan() -> None:
    twins = wisconsin(Generation.Y1983).twins
    assert twins["tenthoustup2"] == twins["tenthoustup"] == "tenthoustup"
    assert twins["tenthoustup2_unique1"] == twins["tenthoustup_unique1"]


def test_a_specification_with_the_benchmark_brings_this_work() -> None:
    document = {
        "name": "w",
        "dbms": [{"name": "s", "start": "sqlite"}],
        "wisconsin": {"generation": "1993", "rows": [1_000]},
    }
    work = work_of(Specification.model_validate(document))
    assert isinstance(work, Wisconsin)
    assert work.writes
    assert not work.one_answer
    assert work.to_load() == {"onektup": 100, "tenktup1": 1_000, "tenktup2": 1_000, "bprime": 100}
