"""Does duplicate elimination sort (section 4.3)?"""

from __future__ import annotations

from tare.report.wisconsin.access import Grouping
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

_KEPT, _SELECTED = "project_1pct", "select_1pct"
_SORTED = (Grouping.SORT, Grouping.BTREE)


def _judge(measured: Measurements, system: System) -> Judged:
    seen = of_class(measured, system, Class.PROJECTION)
    if not seen:
        return not_measured("projection")
    evidence = [
        f"{where(one)}: {one.timed.access or 'no plan'}{_beside_selection(measured, one)}" for one in seen
    ]
    known = [one.found.grouping for one in seen if one.found is not None and one.found.grouping is not None]
    if not known:
        return Judged("not told", "its plans do not tell", evidence)
    how = ", ".join(dict.fromkeys(str(one) for one in known))
    in_order = ", which keeps them in order" if Grouping.BTREE in known else ""
    return Judged(together([one in _SORTED for one in known]), f"{how}{in_order}", evidence)


def _beside_selection(measured: Measurements, one: Seen) -> str:
    """The paper's own measure: projecting on 1% took more than three times as long as selecting 1%."""
    if one.query.operation != _KEPT:
        return ""
    selected = next(
        (
            other
            for other in of_class(measured, one.system, Class.SELECTION, Organisation.HEAP)
            if (other.query.operation, other.query.generation, other.size)
            == (_SELECTED, one.query.generation, one.size)
        ),
        None,
    )
    return f"; it {beside(ratio(selected, one), 'a selection of 1%')}" if selected else ""


ASKED = Asked("duplicates", "Does duplicate elimination sort?", "section 4.3", _judge)
