"""How docstrings and help begin: with the thing or the action, not with a fragment that stands for it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TARE = Path(__file__).parents[3] / "python" / "tare"
FRAGMENTS = ("Of", "What", "Where", "Which", "As", "Those", "One", "That")

LEFT = {"experiment": 1, "measure": 1, "report": 94, "workload": 35}
"""Docstrings that still begin with a fragment, by room. These numbers may only shrink, and no room may join. Two are
in a published schema."""


def strings(tree: ast.Module) -> Iterator[str]:
    """Docstrings, strings that stand by themselves below a constant or an attribute, and texts of help."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case ast.keyword(arg="help", value=ast.Constant(value=str(text))):
                yield text


def fragments(text: str) -> list[str]:
    return [one for one in strings(ast.parse(text)) if one.split(" ", 1)[0] in FRAGMENTS]


@pytest.fixture(scope="module")
def found() -> Counter[str]:
    """Number of fragments by room; modules outside of a room are one."""
    counts: Counter[str] = Counter()
    for path in TARE.rglob("*.py"):
        place = path.relative_to(TARE).parts
        counts[place[0] if len(place) > 1 else ""] += len(fragments(path.read_text()))
    return +counts


def test_no_room_has_more_fragments_than_before(found: Counter[str]) -> None:
    more = {room: (count, LEFT.get(room, 0)) for room, count in found.items() if count > LEFT.get(room, 0)}
    assert not more, "begin with the thing or the action"


def test_the_list_holds_no_more_than_is_left(found: Counter[str]) -> None:
    fewer = {room: found[room] for room in LEFT if found[room] < LEFT[room]}
    assert not fewer, "take these numbers into LEFT"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"""Of a run."""', 1),
        ('def f():\n    """Which one it is."""', 1),
        ('SIZE = 1\n"""As many as fit."""', 1),
        ('option(help="What to do.")', 1),
        ('"""Size of a run."""\ndef f():\n    """Offices of a bank."""', 0),
    ],
)
def test_a_fragment_is_recognized(text: str, count: int) -> None:
    assert len(fragments(text)) == count
