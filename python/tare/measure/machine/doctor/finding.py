"""Finding of a check of the doctor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Status(StrEnum):
    GOOD = "good"
    ADVICE = "advice"  # measuring works, and could be better
    PROBLEM = "problem"  # a measure is missing, or numbers would mislead
    NOT_APPLICABLE = "not-applicable"  # this kind of machine has no such thing
    UNKNOWN = "unknown"  # it could not be seen; `observed` says why


class Area(StrEnum):
    ALLOWED = "allowed"  # what machine and user let Tare do
    DISTURBANCE = "disturbance"  # what adds variance to what is measured


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    area: Area
    status: Status
    observed: str
    why: str  # it matters to a measurement
    next_step: str = ""  # empty where nothing needs doing
    undoable: bool = False  # `tare isolate` does it, and puts it back

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def disturbance(name: str, observed: str, why: str, *, is_quiet: bool, advice: str) -> Finding:
    """Return a finding on what adds variance: good where it is quiet, else advice with this next step."""
    if is_quiet:
        return Finding(name, Area.DISTURBANCE, Status.GOOD, observed, why)
    return Finding(name, Area.DISTURBANCE, Status.ADVICE, observed, why, advice)


def read(path: str) -> str | None:
    """A one-value file of /proc or /sys; None if it is missing or unreadable."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None
