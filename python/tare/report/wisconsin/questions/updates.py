"""Does an append pay for the indexes, and what do the other updates gain by them (section 4.5)?"""

from __future__ import annotations

from tare.report.wisconsin.document import System
from tare.report.wisconsin.measured import Measurements, ratio
from tare.report.wisconsin.questions.base import Asked, Judged, beside, not_measured, of_class, where
from tare.report.wisconsin.words import factor, operation
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class

APPEND = "append"
"""It finds no tuple, so its price is the indexes' alone."""


def _judge(measured: Measurements, system: System) -> Judged:
    found = [
        (one, of)
        for one in of_class(measured, system, Class.UPDATE)
        if one.query.organisation is not Organisation.HEAP
        and (heap := measured.alike(one, Organisation.HEAP)) is not None
        and (of := ratio(heap, one)) is not None
    ]
    if not found:
        return not_measured("update both with indexes and without")
    largest = max(one.size for one, _ in found)
    shown: dict[str, str] = {}
    for one, of in found:
        if one.size == largest:
            shown.setdefault(one.query.operation, f"{operation(one.query.operation)} {factor(of)}")
    appended = [of for one, of in found if one.query.operation == APPEND]
    paid = [of for of in appended if of.established and of.estimate > 1]
    evidence = [f"{where(one)}: it {beside(of, 'the same without indexes')}" for one, of in found]
    short = "time with indexes over time without: " + "; ".join(shown.values())
    if not appended:
        return Judged("not measured", short, evidence)
    return Judged("yes" if len(paid) == len(appended) else "in part" if paid else "no", short, evidence)


ASKED = Asked("updates", "Does an append pay for the indexes? And the other updates?", "section 4.5", _judge)
