"""Parts of a difference between A and B: it lies in planning, in execution, or in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tare.protocol.compare import Comparison, compare

Where = Literal["planning", "execution", "both", "opposite", "neither"]

Side = tuple[Sequence[float], Sequence[float]]
"""Samples of one query, in run order: of planning, and of the total that it is a part of."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The parts of a difference. Each part has its verdict from its own 99% interval.

    `where` names the parts that differ; `opposite`: one grows and the other shrinks. `planning_share`: of the sum of
    both parts' shifts, by size; None where neither moves."""

    planning: Comparison
    execution: Comparison
    where: Where
    planning_share: float | None


def attribute(a: Side, b: Side, *, interleaved: bool = True) -> Attribution:
    """Compares each part. Raises ValueError if one is empty, or has not as many samples as its total."""
    planning = compare(a[0], b[0], interleaved=interleaved)
    execution = compare(_rest(a), _rest(b), interleaved=interleaved)
    one, other = (abs(part.difference.estimate) for part in (planning, execution))
    return Attribution(
        planning, execution, _where(planning, execution), one / (one + other) if one + other else None
    )


def _rest(side: Side) -> list[float]:
    planning, total = side
    return [whole - part for part, whole in zip(planning, total, strict=True)]


def _where(planning: Comparison, execution: Comparison) -> Where:
    if planning.greater and execution.greater:
        return "both" if planning.greater == execution.greater else "opposite"
    if planning.greater:
        return "planning"
    return "execution" if execution.greater else "neither"
