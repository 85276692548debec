"""Names of functions as users write them, and as they are shown."""

from __future__ import annotations

import pytest

from tare.cli.profile_request import names, share
from tare.errors import UsageError
from tare.profile.functions import without_parameters


@pytest.mark.parametrize(
    ("display", "shown"),
    [
        ("heap_update", "heap_update"),
        ("handler::ha_write_row(unsigned char const*)", "handler::ha_write_row"),
        ("f(int (*)(char))", "f"),
        ("A::operator()(int)", "A::operator()"),
        ("A::operator()", "A::operator()"),
        ("void sort<B<int>, C()>(B<int>)", "void sort<B<int>, C()>"),
        ("sort<C()>", "sort<C()>"),
        ("A::size() const", "A::size"),
        ("(anonymous namespace)::g(int)", "(anonymous namespace)::g"),
        ("(anonymous namespace)::h", "(anonymous namespace)::h"),
    ],
)
def test_parameters_are_left_out_where_a_name_is_shown(display: str, shown: str) -> None:
    assert without_parameters(display) == shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, ()),
        ("heap_update", ("heap_update",)),
        ("heap_update, XLogFlush,heap_update", ("heap_update", "XLogFlush")),
        ("f(int, char),g<a, b>", ("f(int, char)", "g<a, b>")),
    ],
)
def test_commas_part_names_but_not_inside_them(text: str | None, found: tuple[str, ...]) -> None:
    assert names(text) == found


@pytest.mark.parametrize("text", ["", "a,,b", ",a"])
def test_an_empty_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        names(text)


@pytest.mark.parametrize(("text", "value"), [("5%", 0.05), ("0.05", 0.05), ("2.5 %", 0.025), ("100%", 1.0)])
def test_a_budget_is_a_share(text: str, value: float) -> None:
    assert share(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "0", "-5%", "101%", "5", "much", "nan"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        share(text)
