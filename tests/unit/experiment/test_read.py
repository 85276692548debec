"""A specification is read, or every mistake in it is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import SpecificationMistake
from tare.experiment.read import read_specification, warnings
from tests.unit.experiment.specifications import GOOD


def mistakes(text: str) -> list[tuple[int, str]]:
    with pytest.raises(SpecificationMistake) as raised:
        read_specification(text)
    assert raised.value.exit_code == 2
    return [(line, said) for line, _, said in raised.value.mistakes]


def only(text: str) -> tuple[int, str]:
    found = mistakes(text)
    assert len(found) == 1, found
    return found[0]


def test_a_good_one_is_read_with_its_text() -> None:
    specification, text = read_specification(GOOD)
    assert text == GOOD
    assert specification.variable.name == "ft_HT1"
    assert list(specification.variable.range.cardinalities) == list(range(1000, 0, -100))


def test_a_file_is_read_as_its_text_is(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_specification(file)[0] == read_specification(GOOD)[0]


WRONG = {
    "a misspelt key": ("cardinality = 1000", "cardinalty = 1000", 7, "did you mean `cardinality`?"),
    "a key that belongs at the top": (
        "count = 3",
        "count = 3\nqes = 3",
        15,
        "move it to the top of the file",
    ),
    "a number in quotes": ("step = 100", 'step = "100"', 8, "must be a whole number, not the text"),
    "half a row": ("step = 100", "step = 12.5", 8, "must be a whole number, not 12.5"),
    "true for a number": ("step = 100", "step = true", 8, "must be a whole number, not true"),
    "no rows": ("cardinality = 500", "cardinality = 0", 12, "must be greater than 0, not 0"),
    "a bad name": ('name = "good"', 'name = "my experiment"', 1, "must begin with a letter"),
    "a name of SQL's own": ('name = "ft_HT2"', 'name = "order"', 11, "a word of SQL's own"),
    "a name of Tare's own": ('name = "ft_HT2"', 'name = "tare_tables"', 11, "which Tare keeps"),
    "a table twice": ('name = "ft_HT2"', 'name = "FT_ht1"', 11, "already"),
    "a key that is no column": ('primary_key = "id1"', 'primary_key = "id9"', 9, "no column of ft_HT1"),
    "a step above the table": ("step = 100", "step = 1001", 8, "above its cardinality"),
    "a minimum above the table": ("step = 100", "step = 100\nminimum = 2000", 9, "above its cardinality"),
    "a step that fits nowhere": ("step = 100", "step = 100\nminimum = 950", 8, "does not fit between"),
    "a minimum without step": ("cardinality = 500", "cardinality = 500\nminimum = 5", 13, "but no step"),
    "two variable tables": (
        "cardinality = 500",
        "cardinality = 500\nstep = 5",
        13,
        "only one may have a step",
    ),
    "no variable table": ("step = 100\n", "", 5, "no table is variable"),
    "neither url nor start": ('start = "sqlite"\n', "", 2, "needs either `url`"),
    "both url and start": ('start = "sqlite"', 'start = "sqlite"\nurl = "sqlite:///f.db"', 2, "not both"),
    "an unknown DBMS": ('start = "sqlite"', 'start = "sqlit"', 4, "did you mean 'sqlite'?"),
    "an unknown scheme": ('start = "sqlite"', 'url = "oracle://h/d"', 4, "no adapter answers"),
    "an unknown scenario": (
        'name = "good"',
        'name = "good"\nscenario = "one_pass"',
        2,
        "did you mean `onepass`?",
    ),
    "an unknown cache state": ('name = "good"', 'name = "good"\ncache = "hot"', 2, "'warm', 'lukewarm-os'"),
    "an endless time-out": ('name = "good"', 'name = "good"\ntimeout_s = inf', 2, "must be a finite number"),
    "no query": ("[generate]\ncount = 3\n", "", 1, "there is no query"),
    "a query that writes": (
        "[generate]",
        '[[queries]]\nname = "q"\nsql = "DELETE FROM ft_HT1"\n[generate]',
        15,
        "no query that only reads",
    ),
    "a generated query's name": (
        "[generate]",
        '[[queries]]\nname = "g1"\nsql = "SELECT 1"\n[generate]',
        14,
        "called g1 already",
    ),
    "one table in single brackets": (
        "[generate]",
        '[queries]\nname = "q"\nsql = "SELECT 1"\n[generate]',
        13,
        "write [[queries]], not [queries]",
    ),
    "a table that is none": ('name = "good"', 'name = "good"\nwatch = "yes"', 2, "must be a table"),
    "a watcher that notifies nobody": ("[generate]", "[watch]\n[generate]", 13, "notifies nobody"),
    "columns without values": (
        "cardinality = 500",
        'cardinality = 500\ncolumns = [\n  {name = "a"},\n  {name = "b", low = 600}]',
        15,
        "has no values",
    ),
    "a value too large": (
        "cardinality = 500",
        'cardinality = 500\ncolumns = [{name = "a", high = 3000000000}]',
        13,
        "does not fit an SQL INTEGER",
    ),
}


@pytest.mark.parametrize(("good", "bad", "line", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_told_once_with_its_line(good: str, bad: str, line: int, said: str) -> None:
    assert good in GOOD
    text = GOOD.replace(good, bad, 1)
    assert only(text)[0] == line
    assert said in only(text)[1]


def test_all_mistakes_are_told_in_one_go_in_the_order_of_the_file() -> None:
    text = """\
name = "x"
scenario = "onepas"
qes = "ten"
[[dbms]]
name = "pg"
[[tables]]
name = "a"
cardinalty = 100
[[tables]]
name = "b"
cardinality = 100
primary_key = "id9"
[[queries]]
name = "q"
sql = "DROP TABLE b"
"""
    found = mistakes(text)
    assert [line for line, _ in found] == [2, 3, 4, 8, 12, 15]
    assert "`cardinality` is missing" not in str(found), "a misspelt key is one mistake, not two"


def test_more_queries_than_the_tables_leave_room_for_are_refused() -> None:
    small = 'columns = [{name = "a"}]\n'
    text = GOOD.replace('primary_key = "id1"\n', small).replace(
        "cardinality = 500\n", f"cardinality = 500\n{small}"
    )
    line, said = only(text.replace("count = 3", "count = 9000\ncorrelation_names = 1"))
    assert (line, "leave room for" in said) == (14, True)


_ODD = [
    "5",
    "-1",
    "1e400",
    "true",
    '""',
    '"x"',
    "[]",
    "[1]",
    "{}",
    "{a = 1}",
    "[[]]",
    "[{}]",
    "1979-05-27",
    '"\\u0000"',
]
_KEYS = [
    "name", "description", "scenario", "qes", "cache", "timeout_s", "dbms", "tables", "queries", "generate", "watch",
    "url", "start", "columns", "low", "cardinality", "step", "minimum", "seed", "sql", "count", "pairs", "webhook",
]  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_ODD), max_size=4),
    st.sampled_from(
        [
            "",
            "[[dbms]]",
            "[[tables]]",
            "[[tables]]\n[[tables.columns]]",
            "[generate]",
            "[watch]",
            "[[queries]]",
        ]
    ),
    st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_ODD), max_size=4),
)
def test_whatever_stands_there_it_is_a_mistake_and_never_a_crash(
    top: dict[str, str], header: str, inner: dict[str, str]
) -> None:
    lines = [f"{key} = {value}" for key, value in top.items()]
    lines += [header] + [f"{key} = {value}" for key, value in inner.items()] if header else []
    with pytest.raises(SpecificationMistake) as raised:
        read_specification("\n".join(lines))
    assert raised.value.mistakes
    assert all(1 <= line <= max(1, len(lines) + 1) for line, _, _ in raised.value.mistakes)


def test_a_password_is_refused_and_never_shown() -> None:
    text = GOOD.replace('start = "sqlite"', 'url = "postgresql://me:s3cret@h/db"')
    with pytest.raises(SpecificationMistake) as raised:
        read_specification(text)
    assert "holds a password" in raised.value.what
    assert "s3cret" not in str(raised.value)


SYNTAX = {
    "text without quotes": ("name = good\n", 1, "put text in quotes"),
    "another language": ("name = 'x'\nqes: 10\n", 2, "write `key = value`"),
    "a bracket left open": (GOOD + "a = [1,\n", 15, "not TOML"),
    "a key twice": ("name = 'x'\nname = 'y'\n", 2, "not TOML"),
    "a number without end": ("qes = " + "1" * 5000, 1, "too long"),
    "brackets without end": ("a = " + "[" * 5000, 1, "nested too deeply"),
}


@pytest.mark.parametrize(("text", "line", "said"), SYNTAX.values(), ids=SYNTAX.keys())
def test_what_is_no_toml_is_told_with_its_line(text: str, line: int, said: str) -> None:
    found = only(text)
    assert said in found[1]
    assert found[0] == line


def test_a_nul_is_refused_since_no_lab_can_hold_it() -> None:
    assert "NUL" in only('description = "a\\u0000b"\n' + GOOD)[1]


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecificationMistake, match="cannot be read"):
        read_specification(tmp_path / "none.toml")
    with pytest.raises(SpecificationMistake, match="cannot be read"):
        read_specification(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(SpecificationMistake, match="UTF-8"):
        read_specification(tmp_path / "latin.toml")


def test_the_hash_is_of_the_meaning_not_of_the_text() -> None:
    said_otherwise = "# a comment\nqes = 10\n" + GOOD.replace("count = 3", "seed = 0\ncount = 3")
    assert read_specification(GOOD)[0].sha256 == read_specification(said_otherwise)[0].sha256
    another = GOOD.replace("count = 3", "count = 4")
    assert read_specification(GOOD)[0].sha256 != read_specification(another)[0].sha256


ODD = {
    "an unknown table": ('"SELECT 1 FROM ft_HT1, nowhere"', "names the table nowhere"),
    "a query without the variable table": (
        '"SELECT count(*) FROM ft_ht2"',
        "does not use the variable table",
    ),
}


@pytest.mark.parametrize(("sql", "said"), ODD.values(), ids=ODD.keys())
def test_what_is_odd_is_a_warning_with_its_line(sql: str, said: str) -> None:
    specification, text = read_specification(GOOD + f'[[queries]]\nname = "q"\nsql = {sql}\n')
    [(line, _, warned)] = warnings(specification, text)
    assert (line, said in warned) == (17, True)


def test_few_qes_and_a_minimum_that_is_never_reached_are_warned_of() -> None:
    specification, text = read_specification(
        "qes = 5\n" + GOOD.replace("step = 100", "step = 300\nminimum = 150")
    )
    assert [line for line, _, _ in warnings(specification, text)] == [1, 10]


def test_another_dialects_sql_is_no_reason_to_warn() -> None:
    text = GOOD + '[[queries]]\nname = "q"\nsql = "SELECT id1 FROM ft_HT1 USE INDEX (a), nowhere"\n'
    assert warnings(*read_specification(text)) == []
