"""A name that is shortened keeps what tells it from the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tare.report.kit.names import Names, middle, whole

LONG = [f"std::map<std::string, Lock{part}>::_M_get_insert_unique_pos(std::string const&)" for part in "ABC"]


@given(st.text(max_size=200), st.integers(5, 60))
def test_a_shortened_name_is_never_longer_and_keeps_its_ends(name: str, most: int) -> None:
    shortened = middle(name, most)
    assert len(shortened) <= most
    if len(whole(name)) > most:
        assert whole(name).startswith(shortened.split("…")[0])
        assert shortened[-1] == whole(name)[-1]


def test_names_that_differ_are_shortened_to_texts_that_differ() -> None:
    names = Names(LONG)
    for most in range(8, 90):
        shortened = [names.cut(name, most) for name in LONG]
        assert len(set(shortened)) == len(LONG)
        assert max(map(len, shortened)) <= most


def test_a_text_that_was_cut_at_its_end_is_cut_there_again() -> None:
    assert middle("query 1: SELECT l_returnflag, sum(l_qu…", 19) == "query 1: SELECT l_…"
    both = Names(["query 1: SELECT count(*) FROM line…", "query 1: SELECT count(*) FROM orde…"])
    assert len({both.cut(name, 19) for name in both._every}) == 2


def test_a_name_that_has_room_is_whole() -> None:
    assert [Names(LONG).cut(name, 200) for name in LONG] == LONG
