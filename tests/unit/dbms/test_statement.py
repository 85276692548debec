"""First word and constants of SQL, found without parsing it."""

from __future__ import annotations

import pytest

from tare.dbms.statement import first_word, without_literals


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("select 1", "SELECT"),
        ("  ;; -- drop\n/* a /* nested */ b */ ((With x as (select 1) select 2", "WITH"),
        ("/*! DROP TABLE t */", ""),
        ("-- only this", ""),
        ("/* never closed", ""),
        (" ; ", ""),
        ("$$", "$"),
    ],
)
def test_the_first_word_is_found_behind_comments_and_brackets(sql: str, word: str) -> None:
    assert first_word(sql) == word


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(a.id > 17)", "(a.id > ?)"),
        ("(t1.c2 = -1.5e3)", "(t1.c2 = ?)"),
        ("(txt = 'it''s 7'::text)", "(txt = ?::text)"),
        (r"(txt = E'a\'b')", "(txt = ?)"),
        ('("my 7 col" = $1)', '("my 7 col" = $1)'),
        ("(g = ANY ('{1,2,3}'::integer[]))", "(g = ANY (?::integer[]))"),
        ("CAST(#0 AS TINYINT)", "CAST(#0 AS TINYINT)"),
        ("`t 1`.`c` < 3", "`t 1`.`c` < ?"),
        ("x between .5 and 12", "x between ? and ?"),
    ],
)
def test_constants_go_and_names_stay(text: str, shape: str) -> None:
    assert without_literals(text) == shape
