"""How docstrings and help begin: with the thing or the action, not with a fragment that stands for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TARE = Path(__file__).parents[3] / "python" / "tare"
FRAGMENTS = ("Of", "What", "Where", "Which", "As", "Those", "One", "That")


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


def test_no_docstring_and_no_help_begins_with_a_fragment() -> None:
    found = {
        str(path.relative_to(TARE)): begun
        for path in TARE.rglob("*.py")
        if (begun := [text[:60] for text in fragments(path.read_text())])
    }
    assert not found, "begin with the thing or the action"


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
