"""Candidates of a search from a table of settings with their sources; the server says which of them it has."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tare.errors import UsageError
from tare.meant import meant
from tare.tune.arms import Arm, single_settings
from tare.tune.settings.setting import Reach, Setting


@dataclass(frozen=True, slots=True)
class Knob:
    """Values of a setting that are worth a try."""

    values: tuple[str, ...]
    why: str
    governs: tuple[str, ...]  # beginnings of functions' names, in which its time is spent
    source: str


@cache
def table() -> Mapping[str, Mapping[str, Knob]]:
    """Knobs by DBMS and setting. MySQL has those of MariaDB that it knows."""
    document = tomllib.loads(files("tare.tune").joinpath("knobs.toml").read_text(encoding="utf-8"))
    found = {
        dbms: {
            name: Knob(tuple(one["values"]), one["why"], tuple(one["governs"]), one["source"])
            for name, one in knobs.items()
        }
        for dbms, knobs in document.items()
    }
    return found | {"mysql": found["mariadb"]}


def governing(dbms: str, functions: Iterable[str]) -> tuple[str, ...]:
    """Knobs of the functions that a profile found, in the table's order."""
    names = tuple(functions)
    return tuple(
        knob
        for knob, facts in table().get(dbms, {}).items()
        if any(name.startswith(facts.governs) for name in names)
    )


def changeable(
    dbms: str, facts: Mapping[str, Setting], names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Knobs that can be changed on the server. `names`: only these; None: all."""
    knobs = table().get(dbms, {}) if names is None else names
    return tuple(name for name in knobs if _can_change(facts.get(name)))


def candidates(dbms: str, facts: Mapping[str, Setting], names: Sequence[str]) -> tuple[Arm, ...]:
    """An arm for each value of these knobs that the server takes. Raises UsageError for a name that is no knob of the
    DBMS."""
    knobs = table().get(dbms, {})
    for name in names:
        if name not in knobs:
            raise UsageError(
                f"{name} is not in Tare's table of knobs of {dbms}",
                meant(name, knobs, f"give its values: --set {name}=VALUE,VALUE"),
            )
    return single_settings(
        {
            name: [value for value in knobs[name].values if name not in facts or facts[name].takes(value)]
            for name in names
        }
    )


def _can_change(fact: Setting | None) -> bool:
    return (
        fact is not None and fact.reach is not Reach.FIXED and not fact.is_pending and not fact.overridden_by
    )
