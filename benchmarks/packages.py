"""Packages that Tare brings with some of its extras: `pyproject.toml`, followed through the packages installed here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = "tare-db"


def requirements(extras: Sequence[str]) -> Iterator[Requirement]:
    """Direct requirements of Tare with these extras."""
    for text in PROJECT["dependencies"]:
        yield Requirement(text)
    for extra in extras:
        for text in PROJECT["optional-dependencies"][extra]:
            requirement = Requirement(text)
            if requirement.name == NAME:
                yield from requirements(sorted(requirement.extras))
            else:
                yield requirement


def packages(extras: Sequence[str]) -> dict[str, Distribution]:
    """All packages that Tare with these extras brings, by name. Raises PackageNotFoundError."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = list(requirements(extras))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        found.setdefault(name, distribution(name))
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            for text in found[name].requires or ():
                below = Requirement(text)
                if below.marker is None or below.marker.evaluate({"extra": extra}):
                    waiting.append(below)
    return found
