"""The benchmark as what a run executes: each QE of a query is one of its ten variants, in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from tare.dbms.base import Session
from tare.experiment.scenario.base import listed
from tare.experiment.work import Tables, Told, Trial, Work
from tare.measure.query import Query
from tare.workload.wisconsin.catalogue import chosen, find
from tare.workload.wisconsin.layout import layout_of, setting_of
from tare.workload.wisconsin.naming import NAMING
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, Kind, relations, third
from tare.workload.wisconsin.results import results
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables

MOST_ROWS_COMPARED = 10_000
"""Rows of a result relation that are compared; a larger one is compared by a digest."""


class Wisconsin(Work):
    writes = True
    one_answer = False

    def __init__(self, spec: WisconsinSpec) -> None:
        self._spec = spec
        self.sizes = listed(spec.rows)
        self.twins = _twins(spec)
        self._variants = lru_cache(self._made)

    def queries(self) -> Sequence[Query]:
        return [
            Query(query.name, ";\n".join(one.sql for one in self._variants(query.name, self.sizes.maximum)))
            for query in chosen(self._spec)
        ]

    def to_load(self) -> Mapping[str, int]:
        return {one.name: one.tuples(self.sizes.maximum) for one in relations(self._spec.generation)}

    def tables(self, session: Session, told: Told | None = None) -> Tables:
        return WisconsinTables(session, self._spec, told)

    def lacking(self, query: str, dbms: str) -> str | None:
        return layout_of(dbms).lacking(find(self._spec.generation, query).organisation)

    def setting(self, query: str) -> str:
        return setting_of(find(self._spec.generation, query).organisation)

    def trial(self, query: str, sql: str, dbms: str, cardinality: int, turn: int) -> Trial:
        variants = self._variants(query, cardinality)
        one = variants[(turn - 1) % len(variants)]
        emptied = [layout_of(dbms).emptied(one.into)] if one.into else []
        return Trial(
            sql=one.sql,
            before=[
                *one.undo,
                *one.setup,
                *emptied,
            ],  # undone first: a run that was cut short may have left it
            after=one.undo,
            answer=self._answer(one),
            unchanged=_unchanged(one),
            rows=one.rows,
            defined=one.defined,
        )

    def _made(self, query: str, cardinality: int) -> Sequence[Variant]:
        return find(self._spec.generation, query).variants(cardinality)

    def _answer(self, one: Variant) -> str | None:
        if one.into is None:
            return None
        if one.rows <= MOST_ROWS_COMPARED:
            return f"SELECT * FROM {one.into}"
        its = results(self._spec.generation)[one.into]
        numbers = [attribute.name for attribute in its if attribute.kind is not Kind.STRING]
        parts = ["COUNT(*)", *(f"SUM({name})" for name in numbers)]
        parts += [  # which value stands beside which; small enough for 32 bits
            f"SUM(({name} % 1009) * ({beside} % 1013))" for name, beside in pairwise(numbers)
        ]
        strings = [attribute.name for attribute in its if attribute.kind is Kind.STRING]
        parts += [f"{function}({name})" for name in strings for function in ("MIN", "MAX")]
        return f"SELECT {', '.join(parts)} FROM {one.into}"


def _unchanged(one: Variant) -> str | None:
    if one.changes is None:
        return None
    its_own = f" WHERE NOT ({one.guest})" if one.guest else ""
    return f"SELECT COUNT(*), SUM({OTHER_KEY}), SUM({KEY}) FROM {one.changes}{its_own}"


def _twins(spec: WisconsinSpec) -> Mapping[str, str]:
    """The two large relations and their indexes: a plan is the same on either."""
    naming = NAMING[spec.generation]
    ends = ("", *(f"_{attribute}" for attribute in (KEY, OTHER_KEY, third(spec.generation))))
    return {twin + end: naming.plan + end for twin in naming.twins for end in ends}
