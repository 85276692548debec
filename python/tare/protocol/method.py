"""A timing protocol as data: its checks, what each sub-step drops, and the formula of a QE's time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.protocol.check import Check
from tare.protocol.named import Defined

if TYPE_CHECKING:
    import ibis.expr.types as ir

Coefficients = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class SubStep:
    """Part of Step 2: drops the QEs that violate one of its checks."""

    name: str  # "step 2-(i)"
    source: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class QatCStep:
    """Part of Step 3: drops the Q@Cs that violate one of its checks."""

    name: str  # "step 3-(i)"
    source: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Method:
    name: str
    title: str
    citation: str
    needed: tuple[str, ...]  # measures without which a QE has no time
    computation: str  # the measure whose variation Q@C checks look at, ticks
    experiment: tuple[Check, ...]  # Step 1, experiment-wide
    qe_checks: tuple[Check, ...]  # Step 1, over QEs
    qatc_checks: tuple[Check, ...]  # Step 1, over Q@Cs by themselves
    monotonicity: tuple[Check, ...]  # Step 1, over adjacent Q@Cs
    drops: tuple[SubStep, ...]  # Step 2
    qatc_drops: tuple[QatCStep, ...]  # Step 3
    equations: tuple[Defined, ...]  # Step 4: the last defines `time_ms`
    parts: Mapping[str, Defined]  # what `time_ms` is the sum of, ms
    post: tuple[str, ...]  # names of the Step 5 checks that this protocol makes
    post_source: str
    start_source: str  # of the drop table
    context: Callable[[ir.Table], ir.Table] | None = None  # columns that Step 2 needs of the Q@C
    fit: Callable[[ir.Table], Coefficients] | None = None  # from the retained QEs, before Step 4
    told_is_deviation: bool = True
    first: tuple[str, str] = ("wall", "wall_ticks")
    """Name and measure that the check for a result cache compares between a Q@C's first QE and its later ones."""
    several_cpus: str | None = None  # the deviation where a Q@C was measured on more than one CPU
