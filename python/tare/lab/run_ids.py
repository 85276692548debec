"""Ids of runs: a letter for the kind and a number, as lists show them: e3, o1, p7, t2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_ID = re.compile(r"([eopt])([1-9]\d{0,17})")
_LEAST_BEGINNING = 4  # characters of a UUID: a slip must not name another run


class Kind(StrEnum):
    """Kind of a run, by the letter of its id."""

    EXPERIMENT = "e"
    OLTP = "o"
    PROFILE = "p"
    TUNING = "t"

    @property
    def noun(self) -> str:
        return {
            Kind.EXPERIMENT: "experiment",
            Kind.OLTP: "transactional run",
            Kind.PROFILE: "profile",
            Kind.TUNING: "tuning run",
        }[self]


@dataclass(frozen=True, slots=True)
class RunId:
    kind: Kind
    number: int

    def __str__(self) -> str:
        return f"{self.kind}{self.number}"


def parse(text: str) -> RunId | None:
    """The id that a text is, or None."""
    parsed = _ID.fullmatch(text.strip().lower())
    return RunId(Kind(parsed.group(1)), int(parsed.group(2))) if parsed else None


def matching(text: str, kind: Kind, known: Sequence[tuple[int, str]]) -> list[int]:
    """Numbers of the runs, of `known` numbers and UUIDs of one kind, that an id or the beginning of a UUID names."""
    run_id = parse(text)
    if run_id is not None and run_id.kind is kind and any(run_id.number == number for number, _ in known):
        return [run_id.number]
    beginning = text.strip().lower()
    if len(beginning) < _LEAST_BEGINNING:
        return []
    return [number for number, uuid in known if uuid.startswith(beginning)]


def hint(text: str, kind: Kind) -> str:
    """Next step after a text that names no run of this kind."""
    run_id = parse(text)
    if text.strip().isdigit() and len(text.strip()) < _LEAST_BEGINNING:
        return f"write its id with the letter of its kind: {kind}{text.strip()}"
    if run_id is not None and run_id.kind is not kind:
        return f"{run_id} is the id of a different kind: ids of a {kind.noun} begin with {kind}"
    return "`tare lab list` shows the ids of its runs"
