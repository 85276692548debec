"""Processes have roles by their command lines; a user's rules come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.os.roles import known_rules, read_rules, role_of


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("postgres: checkpointer ", "checkpointer"),
        ("postgres: 18/main: io worker 2", "I/O worker"),
        ("postgres: parallel worker for PID 4711", "parallel worker"),
        ("postgres: app shop 10.0.0.1(5123) SELECT", "backend"),
        ("postgres: walwriter", "WAL writer"),
        ("/usr/lib/postgresql/15/bin/postgres -D /data", "postmaster"),
        ("/usr/sbin/mariadbd --no-defaults", "server"),
        ("/opt/other/thing --flag", "other"),
        ("", "other"),
    ],
)
def test_a_command_line_has_a_role(title: str, role: str) -> None:
    assert role_of(title, "other", known_rules()) == role


def test_a_users_rules_come_first(tmp_path: Path) -> None:
    file = tmp_path / "roles.toml"
    file.write_text("[[rule]]\npattern = 'app shop'\nrole = \"shop\"\n")
    rules = read_rules(file)
    assert role_of("postgres: app shop [local] idle", "postgres", rules) == "shop"
    assert role_of("postgres: checkpointer ", "postgres", rules) == "checkpointer"


@pytest.mark.parametrize(
    "text", ["rule = 1", "[[rule]]\npattern = '('\nrole = 'x'", "[[rule]]\nrole = 'x'", "= ="]
)
def test_rules_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"\[\[rule\]\]"):
        read_rules(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_rules(tmp_path / "none")
