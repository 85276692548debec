"""Conditions of a gate: its margin, and what B may not change, whatever it costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tare.errors import UsageError
from tare.report.comparison_models import ComparisonResult, ConditionResult
from tare.report.result import QueryResult, RunResult

FORMS = "slower=5%, bytes=10%, plan, answer"
_WITH_LIMIT = re.compile(r"(slower|bytes)=(\d+(?:\.\d+)?)%")
_MOST_PERCENT = 1000.0


@dataclass(frozen=True, slots=True)
class Condition:
    """`limit`: growth that violates it, 0.1 for 10%; None where any change does."""

    name: Literal["bytes", "plan", "answer"]
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class GateRequest:
    """`margin`: slowdown that fails the gate, 0.05 for 5%."""

    margin: float
    conditions: tuple[Condition, ...] = ()


def parse(texts: Sequence[str]) -> GateRequest:
    """Read the values of --fail-if. Raises UsageError."""
    margin: float | None = None
    conditions: dict[str, Condition] = {}
    for text in texts:
        name, limit = _parts(text)
        if name in conditions or (name == "slower" and margin is not None):
            raise UsageError(f"--fail-if {name} is given twice", "give each condition once")
        if name == "slower":
            margin = limit
        else:
            conditions[name] = Condition(name, limit)  # type: ignore[arg-type]
    if margin is None:
        raise UsageError("a gate needs a margin of its time", "add --fail-if slower=5%")
    return GateRequest(margin, tuple(conditions.values()))


def _parts(text: str) -> tuple[str, float | None]:
    """Name and limit of a condition."""
    found = _WITH_LIMIT.fullmatch(text.replace(" ", ""))
    if found is not None and 0 < float(found[2]) <= _MOST_PERCENT:
        return found[1], float(found[2]) / 100
    if text.strip() in ("plan", "answer"):
        return text.strip(), None
    raise UsageError(f"--fail-if {text}: not a condition that fails a gate", f"write {FORMS}")


def judge(result: RunResult, conditions: Sequence[Condition]) -> RunResult:
    """Return the result with the verdicts of the conditions in the gate of each comparison."""

    def judged(found: ComparisonResult) -> ComparisonResult:
        if found.gate is None:
            return found
        verdicts = [_judge(condition, found, *result.sides(found)) for condition in conditions]
        return found.model_copy(update={"gate": found.gate.model_copy(update={"conditions": verdicts})})

    return result.model_copy(
        update={
            "comparison": None if result.comparison is None else judged(result.comparison),
            "comparisons": [judged(found) for found in result.comparisons],
        }
    )


def violated(found: ComparisonResult) -> list[ConditionResult]:
    return [] if found.gate is None else [one for one in found.gate.conditions if one.is_violated]


def _judge(condition: Condition, found: ComparisonResult, a: QueryResult, b: QueryResult) -> ConditionResult:
    if condition.name == "plan":
        plans = a.plan.fingerprint, b.plan.fingerprint
        return _verdict(condition, None if None in plans else plans[0] != plans[1], *plans)
    if condition.name == "answer":
        agree = found.answers_agree
        return _verdict(condition, None if agree is None else not agree, None, None)
    of_a, of_b = a.resources.read_bytes, b.resources.read_bytes
    assert condition.limit is not None
    is_violated = None
    if of_a.ci95 is not None and of_b.ci95 is not None:
        is_violated = of_b.ci95[0] > of_a.ci95[1] * (1 + condition.limit)
    return _verdict(condition, is_violated, of_a.median, of_b.median)


def _verdict(
    condition: Condition, is_violated: bool | None, a: str | float | None, b: str | float | None
) -> ConditionResult:
    return ConditionResult(condition=condition.name, limit=condition.limit, is_violated=is_violated, a=a, b=b)
