"""Does it use the non-clustered index when it should not (section 4.1)? It should not where a scan is faster."""

from __future__ import annotations

from tare.report.numbers import fixed
from tare.report.wisconsin.access import Way
from tare.report.wisconsin.document import Ratio, System
from tare.report.wisconsin.measured import Measurements, Seen, ratio
from tare.report.wisconsin.questions.base import Asked, Judged, beside, not_measured, of_class, where
from tare.report.wisconsin.words import operation
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class

_SCANNED = "the same selection on the heap"


def _judge(measured: Measurements, system: System) -> Judged:
    seen = [
        (one, ratio(heap, one))
        for one in of_class(measured, system, Class.SELECTION, Organisation.NONCLUSTERED)
        if (heap := measured.alike(one, Organisation.HEAP)) is not None
    ]
    if not seen:
        return not_measured("selection both by the non-clustered index and on the heap")
    wrongly = [one for one, of in seen if _uses(one) and _slower(of)]
    untold = [one for one, of in seen if _untold(one) and _slower(of)]
    evidence = [
        f"{where(one)}: {one.timed.access or 'no plan is known'}; it {beside(of, _SCANNED)}"
        for one, of in seen
    ]
    if wrongly:
        return Judged("yes", f"by the index, and slower than on the heap: {_named(wrongly)}", evidence)
    if untold:
        short = f"slower than on the heap, by what path its plan does not tell: {_named(untold)}"
        return Judged("not told", short, evidence)
    return Judged("no", _paths([one for one, _ in seen]), evidence)


def _paths(seen: list[Seen]) -> str:
    """Return the answer where none was slower for it."""
    paths = (
        ("by the index", [one for one in seen if _uses(one)]),
        ("not told by its plan", [one for one in seen if _untold(one)]),
        ("by a scan", [one for one in seen if not _uses(one) and not _untold(one)]),
    )
    told = "; ".join(f"{path}: {_named(queries)}" for path, queries in paths if queries)
    return f"{told}; never slower than on the heap by an index"


def _slower(of: Ratio | None) -> bool:
    return of is not None and of.established and of.estimate > 1


def _uses(one: Seen) -> bool:
    return one.found is not None and one.found.uses(Way.NONCLUSTERED)


def _untold(one: Seen) -> bool:
    return one.found is None or one.found.uses(Way.UNTOLD)


def _named(seen: list[Seen]) -> str:
    """1%, 10% (1993 at 1 000, 10 000 tuples)"""
    of: dict[tuple[str, int], list[str]] = {}
    for one in seen:
        place = (one.query.generation.value, one.size)
        of.setdefault(place, []).append(operation(one.query.operation))
    alike: dict[tuple[str, str], list[str]] = {}
    for (generation, size), names in of.items():
        alike.setdefault((", ".join(names), generation), []).append(fixed(size, 0))
    return "; ".join(
        f"{names} ({generation} at {', '.join(sizes)} tuples)" for (names, generation), sizes in alike.items()
    )


ASKED = Asked(
    "nonclustered",
    "Does it use the non-clustered index when it should not?",
    "section 4.1",
    _judge,
)
