"""Lines and columns in TOML, held against what tomllib reads of the same text."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.experiment.places import Path, Place, Places

HARD = {
    "dotted and quoted keys": 'a . b."c.d" = 1 # x = 2\n[ "k]" . \'v\' ]\ne = {}\n',
    "strings like structure": 's = """x\n[[no]] \\""" "" """""\nl = \'\'\'a\'b\n[t]\'\'\'\nm = "\\"]#"\nn = 1\n',
    "arrays over lines": "a = [ # one ]\n  1, {x = [1, 2], y.z = ']'},\n  [3,],\n]\nb = 2\n",
    "arrays of tables within such": "[[t]]\nn = 1\n[[t.c]]\nm = 2\n[[t.c]]\n[[t]]\n[t.d]\nq = 1\n[[t.c]]\nm = 3\n",
    "a date with a blank in it": "a = 1979-05-27 07:32:00\nb = [1979-05-27 07:32:00Z, 1]\nc = 1979-05-27 # x\n",
    "no newline at the end": "a = 1\nb = true",
    "windows line ends": "a = 1\r\n[t]\r\nb = [\r\n  1,\r\n]\r\n",
    "nothing": "\n# only this",
}


def paths_of(value: Any, path: Path = ()) -> set[Path]:
    found = {path} if path else set()
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        found |= paths_of(one, (*path, key))
    return found


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_every_key_and_element_is_found_and_nothing_else(text: str) -> None:
    assert Places(text).paths() == paths_of(tomllib.loads(text))


_names = st.sampled_from(["a", "b-1", '"q.]"', "'l#'", "3"])
_values = st.recursive(
    st.sampled_from(
        ["1", "-2.5e3", "true", "nan", '"a]b"', "'#'", "07:32:00", '"""\n]\n"""', "'''\n[x]\n'''"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: "[" + ", # ,\n ".join([*values, ""]) + "]")
        | st.dictionaries(_names, inner, max_size=3).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(_names, _values, max_size=4),
    st.lists(st.dictionaries(_names, _values, max_size=3), max_size=3),
)
def test_it_agrees_with_tomllib_on_any_nesting(top: dict[str, str], tables: list[dict[str, str]]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in top.items())
    for table in tables:
        text += "[[t.u]]\n" + "".join(f"  {key} = {value} # x\n" for key, value in table.items())
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a newline within an inline table
        return
    assert Places(text).paths() == paths_of(document)


def test_lines_and_columns_count_from_one_and_point_at_the_key() -> None:
    places = Places("a = 1\n\n  [t]\n    b = [ 1,\n 2 ]\n")
    assert places.place(("a",)) == Place(1, 1)
    assert places.place(("t", "b")) == Place(4, 5)
    assert places.place(("t", "b", 1)) == Place(5, 2)


def test_what_is_missing_is_placed_at_the_table_it_is_missing_in() -> None:
    places = Places("[[t]]\na = 1\n[[t]]\n")
    assert places.place(("t", 1, "cardinality")) == Place(3, 1)
    assert places.place(("nowhere",)) == Place(1, 1)
