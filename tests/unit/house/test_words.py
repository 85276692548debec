"""Beginnings of docstrings, help and descriptions: the thing or the action, not a fragment that stands for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("python/tare", "tests", "benchmarks", "examples")
FRAGMENTS = ("Of", "What", "Where", "Which", "As", "Those", "One", "That")


def strings(tree: ast.Module) -> Iterator[str]:
    """Docstrings, strings that stand by themselves below a constant or an attribute, texts of help and descriptions."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case ast.keyword(arg="help" | "description", value=ast.Constant(value=str(text))):
                yield text


def fragments(text: str) -> list[str]:
    return [one for one in strings(ast.parse(text)) if one.split(" ", 1)[0] in FRAGMENTS]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_help_or_description_begins_with_a_fragment(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): begun
        for path in (ROOT / folder).rglob("*.py")
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
        ('Field(default=None, description="Of the rows.")', 1),
        ('"""Size of a run."""\ndef f():\n    """Offices of a bank."""', 0),
    ],
)
def test_a_fragment_is_recognized(text: str, count: int) -> None:
    assert len(fragments(text)) == count
