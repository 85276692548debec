"""Each adapter splits a script by the rules of its DBMS."""

from __future__ import annotations

import pytest

from tare.dbms.registry import find

_FOR_ALL = "-- first;\nSELECT 'ü;' AS a;; /* ; */\nSELECT 2 /* ; */ ;\n-- the end;\n"
_PARTS = ["-- first;\nSELECT 'ü;' AS a", "/* ; */\nSELECT 2 /* ; */"]


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb", "sqlite", "duckdb"])
def test_semicolons_in_constants_and_comments_end_no_statement(scheme: str) -> None:
    found = find(f"{scheme}:///x").statements(_FOR_ALL)
    assert [part.removesuffix(";").strip() for part in found] == _PARTS


@pytest.mark.parametrize(
    ("scheme", "first"),
    [
        ("postgresql", r"SELECT E'\';', $$;$$, $a$ $$ ; $a$"),
        ("postgresql", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END"),
        ("mariadb", r"SELECT '\';', `a;b`"),
        ("mariadb", "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END"),
        ("sqlite", "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END"),
        ("duckdb", "SELECT $$;$$, E'\\';', {'a;': 1}"),
    ],
)
def test_what_only_this_dbms_writes(scheme: str, first: str) -> None:
    found = find(f"{scheme}:///x").statements(f"{first};\nSELECT 3")
    assert [part.removesuffix(";") for part in found] == [first, "SELECT 3"]


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb", "sqlite", "duckdb"])
def test_placeholders_are_left_as_they_are(scheme: str) -> None:
    script = "SELECT {a} FROM {t} LIMIT {n};SELECT {b}"
    found = find(f"{scheme}:///x").statements(script)
    assert [part.removesuffix(";") for part in found] == script.split(";")
