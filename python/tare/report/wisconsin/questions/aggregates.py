"""Do aggregates use an index: the minimum of a key its own, partitions the one on their attribute (section 4.4)?"""

from __future__ import annotations

from tare.report.wisconsin.access import Way
from tare.report.wisconsin.access.base import END, Found
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
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class

_LEAST_KEY = "min_scalar"


def _of_least_key(measured: Measurements, system: System) -> Judged:
    seen = [one for one in _indexed(measured, system) if one.query.operation == _LEAST_KEY]
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


LEAST_KEY = Asked(
    "least-key", "Does the minimum of a key come from the index alone?", "section 4.4", _of_least_key
)


def _of_partitions(measured: Measurements, system: System) -> Judged:
    seen = [one for one in _indexed(measured, system) if one.query.operation != _LEAST_KEY]
    if not seen:
        return not_measured("aggregate over partitions with an index")
    evidence, harmed = [], False
    for one in seen:
        heap = measured.alike(one, Organisation.HEAP)
        of = ratio(heap, one) if heap else None
        harmed |= _goes_through(one) and of is not None and of.established and of.estimate > 1
        than = f"; it {beside(of, 'the same without the index')}" if heap else ""
        evidence.append(f"{where(one)}: {one.timed.access or 'no plan'}{than}")
    if all(one.found is None or one.found.uses(Way.UNTOLD) for one in seen):
        return Judged("not told", "its plans do not tell", evidence)
    verdict = together([_goes_through(one) for one in seen])
    short = "it scans and groups" if verdict == "no" else "each tuple through the index"
    return Judged(verdict, f"{short}{', and takes longer than without' if harmed else ''}", evidence)


def _goes_through(one: Seen) -> bool:
    return one.found is not None and one.found.uses(Way.NONCLUSTERED, Way.INDEX_ONLY)


PARTITIONS = Asked(
    "partitions",
    "Does an aggregate over partitions go through the index on their attribute?",
    "section 4.4",
    _of_partitions,
)


def _indexed(measured: Measurements, system: System) -> list[Seen]:
    return [
        one
        for one in of_class(measured, system, Class.AGGREGATE)
        if one.query.organisation is not Organisation.HEAP
    ]
