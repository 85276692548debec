"""Are joins without indexes quadratic (section 4.2)? By the slope over sizes where there are some, else by the plan."""

from __future__ import annotations

import math

from tare.report.numbers import fixed
from tare.report.wisconsin.access import Join, Way
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
from tare.report.wisconsin.slopes import Fit, fit
from tare.report.wisconsin.words import label
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class

QUADRATIC = 1.7
"""From this power of the size on; the sort's or the tree's logarithm stays far below it."""


def _judge(measured: Measurements, system: System) -> Judged:
    seen = of_class(measured, system, Class.JOIN, Organisation.HEAP)
    by_query: dict[tuple[str, str], list[Seen]] = {}
    for one in seen:
        by_query.setdefault((one.query.generation, one.query.name), []).append(one)
    if not by_query:
        return not_measured("join without indexes")
    verdicts, evidence, sloped = [], [], False
    for of in by_query.values():
        finite = {one.size: one.samples for one in of if all(0 < ms < math.inf for ms in one.samples)}
        if len(finite) > 1:
            found = fit(finite)
            evidence.append(_of_sizes(of, found, sorted(finite)))
            verdicts.append(found.slope >= QUADRATIC)
            sloped = True
            continue
        evidence.append(_of_plan(measured, of[0]))
        joins = of[0].found.joins if of[0].found else ()
        if joins:
            verdicts.append(Join.NESTED in joins)
    if not verdicts:
        return Judged("not told", "its plans do not tell", evidence)
    verdict = together(verdicts)
    how = "by their growth over sizes" if sloped else "by their plans; one size was run"
    ways = sorted({str(join) for one in seen if one.found for join in one.found.joins})
    built = " over an index built for the query" if any(_builds(one) for one in seen) else ""
    kinds = ", ".join(ways).replace("nested loop over an index", f"nested loop{built or ' over an index'}")
    return Judged(verdict, f"{kinds or 'no plan'} ({how})", evidence)


def _of_sizes(of: list[Seen], found: Fit, sizes: list[int]) -> str:
    bounds = f" [{found.low:.2f}, {found.high:.2f}]" if found.low and found.high else ""
    return (
        f"{of[0].query.generation}, {label(of[0].query)} from {fixed(sizes[0], 0)} to {fixed(sizes[-1], 0)} tuples: "
        f"time grows as the size to the power {found.slope:.2f}{bounds}; {of[-1].timed.access or 'no plan'}"
    )


def _builds(one: Seen) -> bool:
    return one.found is not None and one.found.uses(Way.BUILT)


def _of_plan(measured: Measurements, one: Seen) -> str:
    clustered = measured.alike(one, Organisation.CLUSTERED)
    than = (
        f"; it {beside(ratio(clustered, one), 'the same join with a clustered index')}" if clustered else ""
    )
    return f"{where(one)}: {one.timed.access or 'no plan'}{than}"


ASKED = Asked("joins", "Are joins without indexes quadratic?", "section 4.2", _judge)
