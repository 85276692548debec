"""Parameters and client commands in a statement that a DBMS has refused, and what only looks like one."""

from __future__ import annotations

import pytest

from tare.dbms.unbound import unbound


@pytest.mark.parametrize(
    ("dbms", "sql", "text"),
    [
        ("postgresql", "SELECT 1 WHERE a = $1", "$1"),
        ("postgresql", "SELECT '?', a::int, b ? 'x', c[1:2],\n:id", ":id"),
        ("postgresql", "SELECT 1 WHERE t = :'name'", ":'name'"),
        ("postgresql", 'SELECT * FROM t ORDER BY (:"column")', ':"column"'),
        ("postgresql", "SELECT 1 WHERE a = ? AND b", "?"),
        ("postgresql", "INSERT INTO t VALUES (%s, 1)", "%s"),
        ("postgresql", "SELECT 1 WHERE a = %(id)s", "%(id)s"),
        ("postgresql", "SELECT {n}", "{n}"),
        ("postgresql", "SELECT 1 WHERE d = :date", ":date"),
        ("postgresql", "SELECT 1 WHERE n = %(name)s", "%(name)s"),
        ("postgresql", "SELECT 1 WHERE t = {type}", "{type}"),
        ("postgresql", "SELECT 1 \\gset", "\\gset"),
        ("mariadb", "SELECT @a, ?", "?"),
        ("mariadb", "SELECT 1\\G", "\\G"),
        ("sqlite", "SELECT ?12", "?12"),
        ("sqlite", "SELECT @id", "@id"),
        ("sqlite", "SELECT $id", "$id"),
        ("duckdb", "SELECT {'a': b}, $id", "$id"),
        ("duckdb", "SELECT a LIMIT ?", "?"),
    ],
)
def test_it_is_found_as_it_is_written(dbms: str, sql: str, text: str) -> None:
    found = unbound(sql, dbms)
    assert found is not None
    assert found.written == text
    assert found.line == sql[: sql.rindex(text)].count("\n") + 1
    assert found.is_command == text.startswith("\\")


@pytest.mark.parametrize(
    ("dbms", "sql"),
    [
        (
            "postgresql",
            "SELECT b ? 'x', '{}'::jsonb ?| c, a::int, '?', ':x', c[1:2], c[:n], 5 % s, $$ :id $$",
        ),
        ("postgresql", "SELECT 1 -- :id ? $1\n /* %s {n} */"),
        ("postgresql", "SELECT E'\\'?', \"a?b\", x %s"),
        ("mariadb", "SELECT @a := 5, '\\'?', `a?`, 7 %s"),
        ("duckdb", "SELECT {'a': b, 'c': d}, x[:n], MAP {'k': 1}"),
        ("sqlite", "SELECT 'unterminated ?"),
    ],
)
def test_what_only_looks_like_one(dbms: str, sql: str) -> None:
    assert unbound(sql, dbms) is None


def test_the_next_step_names_the_parameter() -> None:
    found = unbound("SELECT :id", "postgresql")
    assert found is not None
    what, next_step = found.explanation("refused")
    assert what == ":id in line 1 is a parameter without a value (refused)"
    assert "-L id=V1,V2" in next_step
    for sql in ("SELECT $1", "SELECT ?", "SELECT %s"):
        found = unbound(sql, "postgresql")
        assert found is not None
        assert "{NAME}" in found.explanation("refused")[1]
