"""Ids of what Tare keeps: a letter for its kind, and a number among those of this kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

_ID = re.compile(r"([a-z])?([1-9][0-9]{0,17})")


class IdKind(StrEnum):
    """Kind of what is kept, by the letter of its ids."""

    EXPERIMENT = "e"  # a run of an experiment, also of the Wisconsin benchmark; in a lab
    OLTP = "o"  # a run of a transactional workload; in a lab
    PROFILE = "p"  # in a folder of profiles
    TUNING = "t"  # in a folder of tuning runs


def experiment_id(number: int) -> str:
    return f"{IdKind.EXPERIMENT}{number}"


def oltp_id(number: int) -> str:
    return f"{IdKind.OLTP}{number}"


def kind_of(text: str) -> IdKind | None:
    """Return the kind of an id with its letter; None for a bare number and all other texts."""
    found = _ID.fullmatch(text.strip().lower())
    return IdKind(found[1]) if found is not None and found[1] in list(IdKind) else None


def number_of(text: str, kind: IdKind) -> int | None:
    """Return the number in an id of this kind, which may lack its letter; None for all other texts."""
    found = _ID.fullmatch(text.strip().lower())
    return int(found[2]) if found is not None and found[1] in (None, kind) else None


def fitting(asked: str, known: Sequence[tuple[int, str]], kind: IdKind) -> list[int]:
    """Return the numbers of the runs that an id, or the beginning of a uuid, names."""
    number = number_of(asked, kind)
    if number is not None and any(number == one for one, _ in known):
        return [number]
    # A short number is never a beginning: a slip must not name another run.
    wanted = asked.strip().lower()
    digits = wanted.removeprefix(kind)
    is_beginning = len(digits) >= 4 or not digits.isdigit()
    return [one for one, uuid in known if wanted and is_beginning and uuid.startswith(wanted)]
