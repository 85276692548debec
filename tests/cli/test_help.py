"""Help as a user reads it, at the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import typer.main

from tare.cli.app import application
from tests.cli.running import tare

MOST = 80


def commands(of: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the words and the object of each command below a group."""
    for word, command in getattr(of, "commands", {}).items():
        yield (*name, word), command
        yield from commands(command, (*name, word))


def test_paragraphs_are_not_broken_where_their_source_is() -> None:
    found = dict(commands(typer.main.get_command(application())))
    assert ("bench", "oltp", "run") in found
    broken = [
        " ".join(name)
        for name, command in found.items()
        if any("\n" in part for part in (command.help or "").split("\n\n"))
    ]
    assert broken == []


@pytest.mark.parametrize("words", [("report",), ("compare",), ("tune", "run"), ("profile", "attach")])
def test_lines_are_filled(words: tuple[str, ...]) -> None:
    said = tare(*words, "--help", COLUMNS=str(MOST))
    assert said.code == 0, said.err
    prose = said.out.partition("╭")[0].splitlines()
    assert max(map(len, prose)) <= MOST
    for line, following in pairwise(prose):
        word = following.split()[:1]
        assert not line.strip() or not word or len(line.rstrip()) + 1 + len(word[0]) > MOST - 2, line
