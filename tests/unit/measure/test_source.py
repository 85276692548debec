"""The place of a mistake: line and column in the file, and a caret under it."""

from __future__ import annotations

import pytest

from tare.measure.query import Query, expand
from tare.measure.source import WIDEST, Source, excerpt, line_and_column, offset_in_template


def test_line_and_column_are_counted_from_one() -> None:
    text = "SELECT\n  a\nFROM t"
    assert [line_and_column(text, text.index(word)) for word in ("SELECT", "a", "FROM")] == [
        (1, 1),
        (2, 3),
        (3, 1),
    ]


def test_a_statement_within_a_file_adds_its_own_place() -> None:
    source = Source("q.sql", "SELECT a\nFROM t", line=7, column=5)
    assert source.place(source.text.index("a")) == "q.sql:7:12"
    assert source.place(source.text.index("FROM")) == "q.sql:8:1"


def test_every_place_of_a_filled_in_text_leads_to_the_template() -> None:
    template = "SELECT {a} + {b}, {a} FROM t{b}"
    (query,) = expand([Query("q", template)], [("a", ["12345"]), ("b", [""])])
    for word in ("SELECT", "+", ",", "FROM", "t"):
        assert offset_in_template(template, query.parameters, query.sql.rindex(word)) == template.rindex(word)
    second = query.sql.rindex("12345")
    for within in (second, second + 4):
        assert offset_in_template(template, query.parameters, within) == template.rindex("{a}")


def test_a_place_on_the_command_line_is_named_where_there_are_several_lines() -> None:
    assert Query("q", "SELECT a").place(7) == "q"
    assert Query("q", "SELECT\na").place(7) == "q, line 2, column 1"
    assert Query("q", "SELECT\na").place(None) == "q"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT nothing", "nothing"),
        ("SELECT '表表', nothing", "nothing"),
        ("\tSELECT\tnothing\r\nFROM t", "nothing"),
        ("SELECT \x1b[2J nothing", "nothing"),
        ("SELECT 1, " * 100 + "nothing" + ", 1" * 100, "nothing"),
        ("SELECT '" + "表" * 200 + "', nothing", "nothing"),
        ("SELECT nothing" + ", 1" * 100, "nothing"),
    ],
)
def test_the_caret_stands_under_the_mistake(text: str, word: str) -> None:
    line, caret = excerpt(text, text.index(word)).splitlines()
    wide = "".join(character * (2 if character == "表" else 1) for character in line)
    assert wide[caret.index("^") :].startswith(word)
    assert len(wide) <= WIDEST + 2
    assert wide.isprintable()


def test_a_mistake_at_the_end_is_marked_behind_the_last_word() -> None:
    assert excerpt("SELECT\n1 FROM \n\n", 20) == "  1 FROM\n        ^"


def test_a_line_with_a_password_is_not_shown() -> None:
    text = "ALTER ROLE x PASSWORD 's3cr3t' NONSENSE"
    assert excerpt(text, text.index("NONSENSE")) == ""
