"""The models as the papers print them: TTPv1 Table 2 and TTPv2 Table IV, read from a file each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tare.errors import UsageError
from tare.protocol.model.result import Level, Relationship

MODELS = ("ttp2", "ttp1")


@dataclass(frozen=True, slots=True)
class Model:
    """A set of predicted correlations between measures, in the order of its table."""

    name: str
    title: str
    citation: str
    measures: Mapping[str, str]  # column of `tare.protocol.derived` -> the table's words
    relationships: tuple[Relationship, ...]

    @property
    def groups(self) -> Mapping[str, tuple[Relationship, ...]]:
        """The table's rows."""
        rows: dict[str, tuple[Relationship, ...]] = {}
        for one in self.relationships:
            rows[one.group] = (*rows.get(one.group, ()), one)
        return rows


@cache
def load(name: str) -> Model:
    """A model by the name of its protocol. Raises UsageError if there is none."""
    if name not in MODELS:
        raise UsageError(f"{name}: not a causal model", f"take one of {', '.join(MODELS)}")
    read = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    measures = read["measures"]
    relationships = tuple(
        Relationship(
            group,
            letter,
            cause,
            effect,
            Level(level),
            f"{read['source']} ({group}{letter})",
            measures[cause],
            measures[effect],
            *published,
        )
        for group, cells in read["groups"].items()
        for letter, (cause, effect, level, *published) in cells.items()
    )
    return Model(name, read["title"], read["citation"], measures, relationships)
