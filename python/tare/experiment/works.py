"""Work that a specification requests: a benchmark's, or its own tables and queries (TTPv2 §3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tare.dbms.base import Session
from tare.experiment.generator import queries_of
from tare.experiment.specification import Specification
from tare.experiment.work import Told, Trial, Work
from tare.measure.query import Query

if TYPE_CHECKING:
    from tare.experiment.tables import Tables


class Written(Work):
    """Work of the specification's own tables, one of them variable, and its queries."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self.sizes = specification.variable.range

    def queries(self) -> Sequence[Query]:
        return queries_of(self._specification)

    def to_load(self) -> Mapping[str, int]:
        return {table.name: table.cardinality for table in self._specification.tables}

    def tables(self, session: Session, told: Told | None = None) -> Tables:
        from tare.experiment.tables import Tables  # with NumPy, which telling how a run stands can do without

        return Tables(session, self._specification, told)

    def trial(self, query: str, sql: str, dbms: str, cardinality: int, turn: int) -> Trial:
        return Trial(sql)


def work_of(specification: Specification) -> Work:
    if specification.wisconsin is not None:
        from tare.workload.wisconsin.work import Wisconsin

        return Wisconsin(specification.wisconsin)
    return Written(specification)
