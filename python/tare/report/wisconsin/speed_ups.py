"""Speed-up of each operation by an index: the heap's time over that of the organisation."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.wisconsin.document import SpeedUp
from tare.report.wisconsin.measured import Measurements, ratio
from tare.workload.wisconsin.kinds import Organisation


def speed_ups(measured: Measurements) -> Iterator[SpeedUp]:
    """In the order of the measurements; of operations that were measured on the heap too."""
    for one in measured.seen:
        if one.query.organisation is Organisation.HEAP:
            continue
        heap = measured.alike(one, Organisation.HEAP)
        found = ratio(one, heap) if heap is not None else None
        if heap is None or found is None:
            continue
        yield SpeedUp(
            system=one.system.label,
            generation=one.query.generation.value,
            operation=one.query.operation,
            kind=one.query.klass.value,
            title=one.query.title,
            size=one.size,
            organisation=one.query.organisation.value,
            query=one.query.name,
            heap_query=heap.query.name,
            ratio=found,
            access=one.timed.access,
        )
