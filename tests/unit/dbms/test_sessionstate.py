"""Statements that a new session needs again are told from those whose effect lasts."""

from __future__ import annotations

import pytest

from tare.dbms.sessionstate import ending_with_session, setting_of, statements


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
