"""Work that a specification requests."""

from __future__ import annotations

from tare.experiment.specification import Specification
from tare.experiment.work import Work
from tare.experiment.written import Written


def work_of(specification: Specification) -> Work:
    if specification.wisconsin is not None:
        from tare.workload.wisconsin.work import Wisconsin

        return Wisconsin(specification.wisconsin)
    return Written(specification)
