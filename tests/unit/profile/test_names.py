"""Names of functions as users write them, and as they are shown."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.cli.profile_request import names, share
from tare.errors import UsageError
from tare.profile.functions import Functions, NoSuchFunction, without_parameters


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
    assert share(text, "--budget") == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "0", "-5%", "101%", "5", "much", "nan"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        share(text, "--budget")


# Functions of one name --------------------------------------------------------------------
class Binary:
    """Stands in for `_probe.Image`: C++ names with their parameters, 0x100 apart."""

    def __init__(self, path: str, *displays: str) -> None:
        self.path = path
        self.functions = [
            SimpleNamespace(address=0x100 * at, size=16, name=one, display=one, inferred=False, stepped=False,
                            no_return=False, parts=[], indirect_sites=0, aliases=())
            for at, one in enumerate(displays, 1)
        ]  # fmt: skip

    def is_indirect(self, _: str) -> bool:
        return False

    def find(self, name: str) -> list[SimpleNamespace]:
        return [
            one
            for one in self.functions
            if name in (one.display, without_parameters(one.display), f"{one.address:#x}")
        ]

    def near(self, name: str) -> list[str]:
        return []


def functions(program: Binary, library: Binary | None = None) -> Functions:
    images: Any = {Path(library.path).name: library} if library else {}
    image: Any = program
    return Functions(image, images.get)


def test_overloads_are_shown_with_their_parameters_and_chosen_by_them() -> None:
    of = functions(Binary("/innodb", "fil_flush(unsigned long)", "fil_flush(char const*, int)", "fsp_init()"))
    assert of.named("fsp_init").name == "fsp_init"
    chosen = of.named("fil_flush(char const*,int)")
    assert chosen.name == "fil_flush", "alone in its profile, it needs no parameters"
    assert of.named("fil_flush(unsigned long)").name == "fil_flush(unsigned long)"
    assert of[chosen.id].name == "fil_flush(char const*, int)"


def test_a_name_that_fits_several_lists_them_as_they_can_be_named() -> None:
    of = functions(Binary("/p", "f(int)", "f(long)", "g", "g"))
    for name in "fg":
        with pytest.raises(NoSuchFunction, match=f"has 2 functions named {name}: ") as refusal:
            of.named(name)
        choices = refusal.value.what.partition(f"named {name}: ")[2]
        for choice in re.split(r", (?=[fg])", choices):
            assert of.named(choice).name == choice
            assert f"name one of them: '{of.named(choices.split(', ')[0]).name}'" == refusal.value.next_step
    assert choices == "g at 0x300, g at 0x400"


def test_functions_of_two_libraries_are_told_apart_by_these() -> None:
    of = functions(Binary("/p", "flush"), Binary("/lib/libfoo.so", "flush"))
    numbers = [of.named(name).id for name in ("flush", "flush@libfoo.so")]
    assert [of[one].name for one in numbers] == ["flush", "flush@libfoo.so"]
