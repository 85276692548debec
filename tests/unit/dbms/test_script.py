"""A file of SQL is split as its clients split it, and what is no SQL is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.dbms.script import Client, parameters, split

PIECES = [
    "SELECT 1",
    "SELECT ';' -- a comment; with one",
    'SELECT "a;b" FROM `c;d`',
    "SELECT $$ ; $$, $x$ ; $$ ; $x$",
    "/* ; /* nested ; */ ; */ SELECT 2",
    "SELECT 'it''s;'",
    "SELECT E'\\';'",
    "SELECT a[1:2], '{}'::json -> 'x', b ->> 'y', now()::time",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END",
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO b VALUES (1); END",
]


@given(st.lists(st.sampled_from(PIECES), max_size=6))
def test_statements_come_apart_at_their_semicolons_and_nowhere_else(pieces: list[str]) -> None:
    statements, commands = split("\n;\n".join(pieces) + "\n;\n")
    assert [one.sql for one in statements] == pieces
    assert not commands


def test_each_statement_has_the_line_of_its_first_word() -> None:
    statements, _ = split("-- Q1\nSELECT 1;\n\n/* Q2\n*/\nSELECT\n2;\nSELECT 3")
    assert [one.line for one in statements] == [2, 6, 8]


def test_a_backslash_hides_a_quote_from_mariadb_only() -> None:
    text = r"SELECT 'a\'; b'; SELECT 2"
    assert [one.sql for one in split(text, mysql=True)[0]] == [r"SELECT 'a\'; b'", "SELECT 2"]
    assert [one.sql for one in split(r"SELECT 'C:\'; SELECT 2")[0]] == [r"SELECT 'C:\'", "SELECT 2"]
    assert [one.sql for one in split("SELECT 1 # a;b\n; SELECT 2", mysql=True)[0]] == [
        "SELECT 1 # a;b",
        "SELECT 2",
    ]


@pytest.mark.parametrize(
    ("text", "command", "client", "line", "step"),
    [
        ("\\set n 10\nSELECT :n;", "\\set n 10", Client.PSQL, 1, "-L name=VALUE"),
        ("SELECT 1;\n\\timing on\n", "\\timing on", Client.PSQL, 2, "measures the time itself"),
        ("SELECT 1 \\gx\n", "\\gx", Client.PSQL, 1, "semicolon"),
        ("SELECT 1\\G", "\\G", Client.MYSQL, 1, "semicolon"),
        ("\n.timer on\nSELECT 1;", ".timer on", Client.SQLITE, 2, "measures the time itself"),
        ("DELIMITER //\nSELECT 1 //", "DELIMITER //", Client.MYSQL, 1, "semicolon"),
        ("\\i other.sql", "\\i other.sql", Client.PSQL, 1, "-f"),
    ],
)
def test_commands_of_clients_are_named_with_what_to_do(
    text: str, command: str, client: Client, line: int, step: str
) -> None:
    first = split(text)[1][0]
    assert (first.text, first.client, first.line) == (command, client, line)
    assert step in first.next_step


def test_what_only_looks_like_a_command_is_none() -> None:
    for text in ("SELECT '\n\\timing\n.timer'", "SELECT 1\n.5", "SELECT \\N", "-- DELIMITER //\nSELECT 1"):
        assert not split(text, mysql=True)[1], text


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT * FROM t WHERE a = $1 AND b = $2 AND c = $1", ["$1", "$2"]),
        ("SELECT * FROM t WHERE a = ? AND b = '?'", ["?"]),
        ("SELECT :n, :'name', now()::date", [":n", ":'name'"]),
        ("SELECT a[1:2], b::text, '12:30', $$x$$, j ?| k FROM t -- :n", []),
    ],
)
def test_parameters_without_a_value_are_found(sql: str, found: list[str]) -> None:
    assert parameters(sql) == found
