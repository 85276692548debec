"""A sanity check: a named, sourced predicate, and what it finds over the QEs of one Q@C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The check could not be made: a measure that it needs is not there."""

    reason: str


# None: the case passes. str: it violates the check, and this is the evidence.
Judgement = str | Unjudged | None


@dataclass(frozen=True, slots=True)
class Check(Generic[Case]):
    """One predicate over a case (a QE, or a whole Q@C)."""

    number: int
    name: str
    source: str  # where it is defined: "TTPv2 Table XI"
    predicate: Callable[[Case], Judgement]


@dataclass(frozen=True, slots=True)
class Violation:
    qe: int | None  # the QE's run-order index; None where the whole Q@C is at fault
    evidence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found over one Q@C."""

    number: int
    name: str
    source: str
    judged: int  # cases that could be judged
    violations: tuple[Violation, ...]
    unjudged: str | None  # why the others could not; None if all were

    @property
    def violated(self) -> int:
        return len(self.violations)


def apply(check: Check[Case], cases: Sequence[tuple[int | None, Case]]) -> Finding:
    """Judges each case; a case comes with the QE index that its violation is to carry."""
    violations: list[Violation] = []
    judged = 0
    unjudged: str | None = None
    for index, case in cases:
        verdict = check.predicate(case)
        if isinstance(verdict, Unjudged):
            unjudged = unjudged or verdict.reason
            continue
        judged += 1
        if verdict is not None:
            violations.append(Violation(index, verdict))
    return Finding(check.number, check.name, check.source, judged, tuple(violations), unjudged)
