"""Objects of a group of entry points: those built in, and over them those of other packages."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def loaded(group: str, built_in: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """An instance of each by its name, and why the others could not be loaded: one that is broken does no harm."""
    entries = {name: EntryPoint(name, target, group) for name, target in built_in.items()}
    entries.update({entry.name: entry for entry in _installed(group, tuple(sys.path))})
    made: dict[str, Any] = {}
    broken: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            made[name] = getattr(import_module(entry.module), entry.attr)()
        except (ImportError, AttributeError, TypeError) as error:  # TypeError: it is abstract still
            broken[name] = f"{entry.value}: {error}"
    return made, broken


@cache
def _installed(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of the packages on `path`. To read all packages takes 5 ms."""
    return tuple(entry_points(group=group))
