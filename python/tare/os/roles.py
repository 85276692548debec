"""Roles of processes, by rules over their command lines (`roles.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from tare.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    role: str


@cache
def known_rules() -> Sequence[Rule]:
    return _parse(files("tare.os").joinpath("roles.toml").read_text(), "roles.toml")


def read_rules(file: Path) -> Sequence[Rule]:
    """The file's rules, then the known ones. Raises UsageError."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}", "name a file with [[rule]] tables") from error
    return [*_parse(text, str(file)), *known_rules()]


def role_of(title: str, name: str, rules: Sequence[Rule]) -> str:
    """Role of a process with this command line, which runs this program."""
    for rule in rules:
        if rule.pattern.search(title or name):
            return rule.role
    return name


def _parse(text: str, where: str) -> Sequence[Rule]:
    try:
        tables = tomllib.loads(text).get("rule", [])
        return [Rule(re.compile(table["pattern"]), str(table["role"])) for table in tables]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, re.error) as error:
        raise UsageError(
            f"{where} holds no rules: {error}",
            'write [[rule]] tables, each with pattern = "…" and role = "…"',
        ) from error
