"""Scripts fall apart at the semicolons that end a statement for the DBMS, and at no other."""

from __future__ import annotations

import pytest

from tare.dbms import scripts
from tare.dbms.sqlite.script import statements as of_sqlite
from tare.errors import WriteRefused

PROCEDURE = "CREATE PROCEDURE p() BEGIN IF 1 THEN SET @a = 1; END IF; SELECT CASE 1 WHEN 1 THEN 2 END; END"


@pytest.mark.parametrize(
    ("dialect", "parts"),
    [
        ("postgres", [r"SET application_name = E'a\'; b'", "SET work_mem = '1MB'"]),
        ("postgres", ["DO $x$ BEGIN EXECUTE 'SET a.b = 1'; END $x$", 'SET "a;b".c = 1 /* ; /* ; */ ; */']),
        ("postgres", ["CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END", "SELECT f()"]),
        ("postgres", ["BEGIN", "SELECT CASE WHEN true THEN 1 END", "END", "SELECT 1 -- ;"]),
        ("mysql", ["SELECT @x := ';'", r"SET @y = 'a\';b'", "SELECT `a;b`"]),
        ("mysql", ["BEGIN NOT ATOMIC SET @z = 1; SET @y = 2; END", "SELECT 1"]),
        ("mysql", [PROCEDURE, "CALL p()"]),
    ],
)
def test_a_script_falls_apart_by_the_rules_of_its_dbms(dialect: str, parts: list[str]) -> None:
    assert scripts.statements(";\n".join(parts), dialect) == parts
    assert scripts.statements(";\n".join(parts) + "\n;;\n", dialect) == parts


def test_what_no_tokenizer_reads_is_one_statement() -> None:
    assert scripts.statements("SELECT 'open; SELECT 1", "postgres") == ["SELECT 'open; SELECT 1"]


def test_sqlites_triggers_stay_whole() -> None:
    trigger = "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT ';'; END;"
    assert list(of_sqlite(f"-- ;\nPRAGMA cache_size = 1;{trigger} ; SELECT ';'")) == [
        "-- ;\nPRAGMA cache_size = 1;",
        trigger,
        " SELECT ';'",
    ]


def test_only_what_is_temporary_is_done_again_of_what_a_read_only_transaction_refuses() -> None:
    script = [
        "SET a = 1",
        "CREATE TABLE lasting (a int)",
        "CREATE TEMP TABLE mine AS SELECT 1 AS a",
        "CREATE INDEX i ON mine (a)",
        "INSERT INTO mine VALUES (2)",
        "INSERT INTO lasting SELECT a FROM mine",
        "WITH n AS (INSERT INTO lasting VALUES (1)) SELECT a FROM mine",
        "SELECT 1 AS a INTO TEMP other",
        "DROP TABLE other",
        "TRUNCATE public.mine",
    ]
    is_read_only, done = [False], []

    def run(statement: str) -> None:
        if is_read_only[0] and statement != script[0]:
            raise WriteRefused("read-only")
        done.append(statement)

    scripts.repeat(";".join(script), "postgres", run, lambda on: is_read_only.__setitem__(0, on))
    assert done == [script[at] for at in (0, 2, 3, 4, 7, 8)]


def test_a_transaction_is_run_as_it_is_written() -> None:
    done: list[str] = []
    read_only: list[bool] = []
    scripts.repeat("BEGIN; SET x = 1; COMMIT", "postgres", done.append, read_only.append)
    assert done == ["BEGIN", "SET x = 1", "COMMIT"]
    assert read_only == [True, False]
