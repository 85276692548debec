"""A question that the paper asks of its systems, and how its answer is drawn from a system's measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tare.report.numbers import fixed
from tare.report.wisconsin.document import Answer, Ratio, System, Verdict
from tare.report.wisconsin.measured import Measurements, Seen
from tare.report.wisconsin.words import label, times
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class


@dataclass(frozen=True, slots=True)
class Judged:
    verdict: Verdict
    short: str
    evidence: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    key: str
    question: str
    source: str  # of the paper
    judge: Callable[[Measurements, System], Judged]

    def answer(self, measured: Measurements, system: System) -> Answer:
        found = self.judge(measured, system)
        return Answer(
            system=system.label, verdict=found.verdict, short=found.short, evidence=list(found.evidence)
        )


def not_measured(what: str) -> Judged:
    return Judged("not measured", f"no {what} was measured")


def of_class(measured: Measurements, system: System, kind: Class, *organisations: Organisation) -> list[Seen]:
    """At every size; in these organisations, or in any."""
    return [
        one
        for one in measured.on(system)
        if one.query.klass is kind and (not organisations or one.query.organisation in organisations)
    ]


def where(one: Seen) -> str:
    """Return the measurement that a sentence speaks of."""
    return f"{one.query.generation}, {label(one.query)} at {fixed(one.size, 0)} tuples"


def beside(ratio: Ratio | None, what: str) -> str:
    """… "takes 1.34 [1.30, 1.38] times the heap scan's time"."""
    return f"takes {times(ratio)} the time of {what}" if ratio else f"cannot be set against {what}"


def together(verdicts: Sequence[bool]) -> Verdict:
    """yes if all, no if none."""
    return "yes" if all(verdicts) else "in part" if any(verdicts) else "no"
