"""What an adapter cannot do, and the error it raises instead. A gap that closes fails its test."""

from __future__ import annotations

from typing import NamedTuple

from tare.errors import ServerLost


class Gap(NamedTuple):
    error: type[BaseException]
    reason: str


GAPS: dict[tuple[str, str], Gap] = {
    ("duckdb", "test_a_new_index_changes_the_fingerprint"): Gap(
        AssertionError,
        "DuckDB decides for or against an index while it runs: EXPLAIN shows a sequential scan either way",
    ),
    ("mysql", "test_a_large_statement_is_sent_whole"): Gap(
        ServerLost, "MySQL 5.6 takes 4 MB at once (max_allowed_packet), and the text travels in hexadecimal"
    ),
    **{
        ("mysql", test): Gap(AssertionError, "the Wisconsin report reads no plans of MySQL")
        for test in (
            "test_on_a_heap_every_tuple_is_scanned",
            "test_few_tuples_are_found_by_the_index_on_their_key",
            "test_the_minimum_of_a_key_comes_from_where_each_dbms_keeps_it",
            "test_without_an_index_the_minimum_is_looked_for",
            "test_joins_without_indexes_are_each_dbmss_own",
            "test_duplicates_are_removed_in_each_dbmss_own_way",
            "test_every_plan_but_an_appends_tells_something",
        )
    },
}
