"""Blocks as a terminal spells them whose encoding lacks characters: what takes more room then is laid out with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from tare.report.kit.blocks import Block, Charts, Tree
from tare.report.kit.figure import JOINED
from tare.words import spelled

LONGER = 2
"""Columns that an ellipsis at the end of a cut line takes more."""


def blocks_in(blocks: Sequence[Block], encoding: str) -> Sequence[Block]:
    """Return the blocks with their text as an output of this encoding shows it."""
    return [_in(block, encoding) for block in blocks]


def _in(given: Any, encoding: str) -> Any:
    match given:
        case Enum():
            return given
        case str():
            return JOINED.join(spelled(part, encoding) for part in given.split(JOINED))
        case list() | tuple():
            return [_in(one, encoding) for one in given]
        case Tree():
            return replace(
                given, columns=_in(given.columns, encoding), cut=lambda most: _in(given.cut(most), encoding)
            )
        case Charts():
            return given
        case _ if is_dataclass(given) and not isinstance(given, type):
            changed = {one.name: _in(getattr(given, one.name), encoding) for one in fields(given)}
            return replace(given, **changed)
        case _:
            return given
