"""How Tare writes, as far as a machine can see. tests/cli/test_commands.py checks every command's help."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tare

PACKAGE = Path(tare.__file__).parent
HOOK = Path(__file__).parents[2] / "scripts" / "hooks" / "commit-msg"

FRAGMENT = re.compile(r"(Of|What|Where|Which|Those|One)\b")
"""Openings that leave the noun out."""


def fragments() -> Iterator[str]:
    """Places of docstrings (also of constants) that open with a fragment."""
    for path in sorted(PACKAGE.rglob("*.py")):
        within = path.relative_to(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text())):
            text = (
                node.value.value
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                else None
            )
            if isinstance(text, str) and FRAGMENT.match(text.strip()):
                yield f"{within}:{node.lineno}: {text.strip().splitlines()[0]}"


def test_a_docstring_begins_with_its_subject() -> None:
    assert list(fragments()) == []


def check(subject: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nA body of any length, which says why it is done.\n# a comment\n")
    return subprocess.run([HOOK, message], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "subject",
    [
        "profile: close frames that an exception skipped",
        "cli, lab: name runs by a letter and a number",
        "tests/cli: run a command in a fork",
        "Merge branch 'x'",
        'Revert "profile: close frames"',
    ],
)
def test_a_subject_of_a_commit_is_accepted(subject: str, tmp_path: Path) -> None:
    assert check(subject, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("subject", "complaint"),
    [
        ("A thread's doubt ends in one place", "does not begin with a room"),
        ("profile: Close frames", "does not begin with a room"),
        ("profile: added a check of frames", "imperative"),
        ("profile: the server's own stop", "imperative"),
        ("profile: close frames; lab: keep them", "two things"),
        ("profile: close frames.", "full stop"),
        (
            "profile: close the frames that an exception in the middle of a transaction skipped",
            "72 are allowed",
        ),
    ],
)
def test_a_subject_at_fault_is_refused_with_an_example(subject: str, complaint: str, tmp_path: Path) -> None:
    refused = check(subject, tmp_path)
    assert refused.returncode == 1
    assert complaint in refused.stderr
    assert "next: write it like this" in refused.stderr
