"""Durability that an arm gives up, by a table with sources. A setting that the table lacks is taken to keep it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tare.tune.settings.values import same


@dataclass(frozen=True, slots=True)
class Loss:
    """Data that a crash may lose under a value."""

    setting: str
    value: str
    what: str
    source: str


@dataclass(frozen=True, slots=True)
class _Rule:
    keeps: tuple[str, ...]
    loses: Mapping[str, str]  # by value; "*": any other
    source: str


@cache
def table() -> Mapping[str, _Rule]:
    """The rules, by setting."""
    document = tomllib.loads(files("tare.tune").joinpath("durability.toml").read_text(encoding="utf-8"))
    return {
        name: _Rule(tuple(rule["keeps"]), dict(rule["loses"]), rule["source"])
        for name, rule in document.items()
    }


def losses(settings: Mapping[str, str]) -> tuple[Loss, ...]:
    """Losses under these values."""
    found = []
    for name, value in settings.items():
        rule = table().get(name)
        if rule is None or any(same(value, kept) for kept in rule.keeps):
            continue
        what = next((text for other, text in rule.loses.items() if other != "*" and same(value, other)), None)
        found.append(
            Loss(name, value, what or rule.loses.get("*", "unknown: not in Tare's table"), rule.source)
        )
    return tuple(found)
