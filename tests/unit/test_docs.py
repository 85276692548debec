"""Pages of the documentation: each command line in them parses, and the site that is built of them needs no network."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.exceptions import Exit
from typer.main import get_command

from tare.cli.app import app
from tare.errors import TareError

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "METHODOLOGY.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/guides").glob("*.md"),
    ]
)
_COMMAND = re.compile(r"tare [^:\s]+(?!\S)")
_SUBSTITUTED = re.compile(r"\$\([^)]*\)")
_FENCE = re.compile(r"^\s*```")
_ENDS = {"|", ">", ">>", "&&", "||", ";", "2>", "&"}


@dataclass(frozen=True)
class Line:
    """Command line in a block of code."""

    page: str
    number: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}:{self.number}: {shlex.join(self.words)}"


def lines() -> Iterator[Line]:
    for page in PAGES:
        is_code = False
        waiting = ""
        for number, text in enumerate(page.read_text().splitlines(), 1):
            if _FENCE.match(text):
                is_code = not is_code
                continue
            text = waiting + text.strip().removeprefix("$ ")
            waiting = ""
            # What a command prints begins like it, too: "tare isolate: …".
            if not is_code or not _COMMAND.match(text):
                continue
            if text.endswith("\\"):
                waiting = text[:-1]
                continue
            words = shlex.split(_SUBSTITUTED.sub("1", text).replace(";", " ; "), comments=True)
            end = next((place for place, word in enumerate(words) if word in _ENDS), len(words))
            yield Line(str(page.relative_to(ROOT)), number, tuple(words[1:end]))


@cache
def root() -> Any:
    return get_command(app)


def parse(words: list[str]) -> None:
    """Raises what a command raises that does not take these words. Runs nothing."""
    command, context = root(), None
    while hasattr(command, "commands"):
        context = command.make_context("tare", [], parent=context, resilient_parsing=True)
        command = command.commands[words.pop(0)]
    command.make_context("tare", words, parent=context)


FOUND = list(lines())


def test_there_are_command_lines_to_look_at() -> None:
    assert len(FOUND) > 150


@pytest.mark.parametrize("line", FOUND, ids=str)
def test_a_command_line_in_the_documentation_parses(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_DB", "sqlite:///x.db")  # where a line gives none
    try:
        parse(list(line.words))
    except Exit:  # --help, --version
        pass
    except (ClickException, TareError, KeyError) as error:
        pytest.fail(f"{line}: {error}")


def test_the_site_is_built_without_a_warning_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    built = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"),
            *("--doctree-dir", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "site")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    site = tmp_path / "site"
    asked = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']((?:https?:)?//[^"']+)""")
    outside = {address for page in site.rglob("*.html") for address in asked.findall(page.read_text())}
    assert outside == set()
    assert (site / "searchindex.js").exists()
    listed = (site / "llms.txt").read_text()
    assert all(
        f"]({page.stem}.html)" in listed for page in (ROOT / "docs").glob("*.md") if page.stem != "index"
    )
    assert "tare time" in (site / "_generated/help.html").read_text()
