"""Statements that a new session needs again are told from those whose effect lasts."""

from __future__ import annotations

import pytest

from tare.dbms.sessionstate import ending_with_session, set_statement, setting_of, statements
from tare.errors import UsageError


@pytest.mark.parametrize(
    ("script", "again"),
    [
        ("SET work_mem = '64MB'", ["SET work_mem = '64MB'"]),
        ("CREATE TABLE t (a int); set enable_seqscan to off;", ["set enable_seqscan to off"]),
        ("PRAGMA cache_size = -777", ["PRAGMA cache_size = -777"]),
        ("ATTACH 'other.db' AS o; INSERT INTO o.t VALUES (';')", ["ATTACH 'other.db' AS o"]),
        ("SELECT set_config('work_mem', '1MB', false)", ["SELECT set_config('work_mem', '1MB', false)"]),
        ("INSERT INTO t VALUES ('SET x = 1; SET y = 2')", []),
        ("-- SET x = 1;\nANALYZE t", []),
        ("!echo SET x = 1", []),
        (
            "CREATE TEMPORARY TABLE s AS SELECT 1 AS a; CREATE INDEX i ON s (a); INSERT INTO t SELECT 1",
            ["CREATE TEMPORARY TABLE s AS SELECT 1 AS a", "CREATE INDEX i ON s (a)"],
        ),
        ("DO $x$ BEGIN PERFORM 1; END $x$; USE d", ["USE d"]),
    ],
)
def test_only_what_ends_with_the_session_is_run_again(script: str, again: list[str]) -> None:
    assert ending_with_session([script]) == again


def test_a_script_falls_apart_at_its_semicolons_alone() -> None:
    assert statements("a 'x;y'; b \"c;d\" /* ; */; ; -- e;\n f") == [
        "a 'x;y'",
        'b "c;d" /* ; */',
        "-- e;\n f",
    ]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("SET work_mem = '64MB'", "work_mem"),
        ("SET SESSION sort_buffer_size=1", "sort_buffer_size"),
        ("set enable_seqscan to off", "enable_seqscan"),
        ("PRAGMA cache_size = 3", "cache_size"),
        ("SET @@session.sort_buffer_size = 1", "sort_buffer_size"),
        ("RESET work_mem", None),
        ("ATTACH 'a' AS b", None),
    ],
)
def test_a_setting_that_can_be_read_back_has_its_name_found(statement: str, name: str | None) -> None:
    assert setting_of(statement) == name


@pytest.mark.parametrize(
    ("dbms", "name", "value", "expected"),
    [
        ("postgresql", "work_mem", "64MB", "SELECT set_config('work_mem', '64MB', false)"),
        ("postgresql", "search_path", "a'b", "SELECT set_config('search_path', 'a''b', false)"),
        ("mariadb", "sort_buffer_size", "2M", "SET SESSION sort_buffer_size = 2097152"),
        ("mysql", "optimizer_switch", "mrr=on", "SET SESSION optimizer_switch = 'mrr=on'"),
        ("sqlite", "cache_size", "-4000", "PRAGMA cache_size = -4000"),
        ("duckdb", "threads", "1", "SET threads = '1'"),
    ],
)
def test_a_setting_is_set_in_the_words_of_its_dbms(dbms: str, name: str, value: str, expected: str) -> None:
    assert set_statement(dbms, name, value) == expected


def test_what_is_no_name_of_a_setting_is_refused() -> None:
    with pytest.raises(UsageError, match="not the name of a setting"):
        set_statement("postgresql", "a; DROP TABLE t", "1")
