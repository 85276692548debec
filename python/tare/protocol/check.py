"""A sanity check as data: a named, sourced rule over named measures, for one case or for a whole lab.

`Check.verdict` judges one case in plain numbers (`tare time`); `tare.protocol.judge` judges every
case of a lab at once from the same data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tare.protocol.named import Formula, Numbers, say
from tare.protocol.outcome import Level


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The check could not be made: a measure that it needs is not there."""

    reason: str


# None: the case passes. str: it violates the check, and this is the evidence.
Judgement = str | Unjudged | None


@dataclass(frozen=True, slots=True)
class Ground:
    """A way to violate a check. It does not hold where a measure that it needs is missing."""

    needs: tuple[str, ...]
    holds: Formula
    evidence: str  # a template: `named.say`


@dataclass(frozen=True, slots=True)
class Check:
    """A rule about a QE, a Q@C or a whole experiment. It is violated where one of its grounds holds."""

    number: int
    name: str
    source: str  # where it is defined: "TTPv2 Table XI"
    level: Level
    grounds: tuple[Ground, ...]
    unless: Ground | None = None  # where this holds it cannot be judged; its evidence says why
    missing: Mapping[str, str] = field(default_factory=dict)  # what to say of a measure that is not there
    of_what_is_known: bool = False  # one known measure is enough for a case to pass

    @property
    def needs(self) -> tuple[str, ...]:
        """Every measure that must be there for a case to pass."""
        return tuple(dict.fromkeys(name for ground in self.grounds for name in ground.needs))

    def lack(self, name: str) -> str:
        """Why the check cannot be made without this measure."""
        return self.missing.get(name, f"{name.replace('_', ' ')} is not known")

    def verdict(self, measures: Mapping[str, Any]) -> Judgement:
        """Judges one case by its measures; one that is absent or None is not known."""
        view = Numbers(measures)
        if self.unless and not view.lacks(self.unless.needs) and self.unless.holds(view):
            return Unjudged(say(self.unless.evidence, view))
        for ground in self.grounds:
            if not view.lacks(ground.needs) and ground.holds(view):
                return str(say(ground.evidence, view))
        lacking = view.lacks(self.needs)
        if lacking is None or (self.of_what_is_known and any(not view.lacks((n,)) for n in self.needs)):
            return None
        return Unjudged(self.lack(lacking))


@dataclass(frozen=True, slots=True)
class Violation:
    qe: int | None  # the QE's run-order index; None where the whole Q@C is at fault
    evidence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a check over a Q@C."""

    number: int
    name: str
    source: str
    judged: int  # cases that could be judged
    violations: tuple[Violation, ...]
    unjudged: str | None  # why the others could not; None if all were

    @property
    def violated(self) -> int:
        return len(self.violations)


def apply(check: Check, cases: Sequence[tuple[int | None, Mapping[str, Any]]]) -> Finding:
    """Judges each case; a case comes with the QE index that its violation is to carry."""
    violations: list[Violation] = []
    judged = 0
    unjudged: str | None = None
    for index, measures in cases:
        verdict = check.verdict(measures)
        if isinstance(verdict, Unjudged):
            unjudged = unjudged or verdict.reason
            continue
        judged += 1
        if verdict is not None:
            violations.append(Violation(index, verdict))
    return Finding(check.number, check.name, check.source, judged, tuple(violations), unjudged)
