"""Does an aggregate over partitions go through the index on the partitioning attribute (section 4.4)?"""

from __future__ import annotations

from tare.report.wisconsin.access import Way
from tare.report.wisconsin.document import System
from tare.report.wisconsin.measured import Measurements, Seen, ratio
from tare.report.wisconsin.questions.base import (
    Asked,
    Judged,
    beside,
    not_measured,
    of_class,
    together,
    where,
)
from tare.report.wisconsin.questions.least_key import OPERATION
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class


def _judge(measured: Measurements, system: System) -> Judged:
    seen = [
        one
        for one in of_class(measured, system, Class.AGGREGATE)
        if one.query.operation != OPERATION and one.query.organisation is not Organisation.HEAP
    ]
    if not seen:
        return not_measured("aggregate over partitions with an index")
    evidence, harmed = [], False
    for one in seen:
        heap = measured.alike(one, Organisation.HEAP)
        of = ratio(heap, one) if heap else None
        harmed |= _uses(one) and of is not None and of.established and of.estimate > 1
        than = f"; it {beside(of, 'the same without the index')}" if heap else ""
        evidence.append(f"{where(one)}: {one.timed.access or 'no plan'}{than}")
    if all(one.found is None or one.found.uses(Way.UNTOLD) for one in seen):
        return Judged("not told", "its plans do not tell", evidence)
    verdict = together([_uses(one) for one in seen])
    short = "it scans and groups" if verdict == "no" else "each tuple through the index"
    return Judged(verdict, f"{short}{', and takes longer than without' if harmed else ''}", evidence)


def _uses(one: Seen) -> bool:
    return one.found is not None and one.found.uses(Way.NONCLUSTERED, Way.INDEX_ONLY)


ASKED = Asked(
    "partitions",
    "Does an aggregate over partitions go through the index on their attribute?",
    "section 4.4",
    _judge,
)
