"""Does the minimum of a key come from the index alone (section 4.4)?"""

from __future__ import annotations

from tare.report.wisconsin.access import Way
from tare.report.wisconsin.access.base import END, Found
from tare.report.wisconsin.document import System
from tare.report.wisconsin.measured import Measurements, ratio
from tare.report.wisconsin.questions.base import (
    Asked,
    Judged,
    beside,
    not_measured,
    of_class,
    together,
    where,
)
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class

OPERATION = "min_scalar"


def _judge(measured: Measurements, system: System) -> Judged:
    seen = [
        one
        for one in of_class(measured, system, Class.AGGREGATE)
        if one.query.operation == OPERATION and one.query.organisation is not Organisation.HEAP
    ]
    if not seen:
        return not_measured("minimum of an indexed key")
    evidence = []
    for one in seen:
        heap = measured.alike(one, Organisation.HEAP)
        than = (
            f"; it {beside(ratio(one, heap), 'the same with the index')} where there is none" if heap else ""
        )
        evidence.append(f"{where(one)}: {one.timed.access or 'no access to a relation in its plan'}{than}")
    known = [one.found for one in seen if one.found is not None and one.found.accesses]
    if not known or any(found.uses(Way.UNTOLD) for found in known):
        return Judged("not told", "its plan does not tell", evidence)
    if all(found.uses(Way.STATISTICS) for found in known):
        return Judged("no", "from the column's statistics, with an index or without", evidence)
    verdict = together([_alone(found) for found in known])
    short = {"yes": "it reads the index alone", "no": "it reads the whole relation"}
    return Judged(verdict, short.get(verdict, "in some cases"), evidence)


def _alone(found: Found) -> bool:
    return all(one.way is Way.INDEX_ONLY or one.by == END for one in found.accesses)


ASKED = Asked("least-key", "Does the minimum of a key come from the index alone?", "section 4.4", _judge)
