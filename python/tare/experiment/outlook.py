"""Outlook on an experiment, from its specification alone: sizes, counts, upper bounds."""

from __future__ import annotations

from typing import Any

from tare.dbms.url import redacted
from tare.experiment.scenario.base import Listed, Range
from tare.experiment.scenario.registry import find
from tare.experiment.specification import Specification, TableSpec
from tare.experiment.works import work_of


def outlook(specification: Specification) -> dict[str, Any]:
    """For people and as JSON. The Q@Cs are those a scenario may time *at most*, of one DBMS and of all."""
    work = work_of(specification)
    cardinalities = work.sizes.cardinalities
    queries, to_load = work.queries(), work.to_load()
    per_dbms = len(queries) * len(cardinalities)
    scenario = find(specification.scenario)
    return {
        "name": specification.name,
        "description": specification.description,
        "sha256": specification.sha256,
        "scenario": {"name": scenario.name, "summary": scenario.summary},
        "cache": str(specification.cache),
        "timeout_s": specification.timeout_s,
        "dbms": [
            {"name": one.name, "url": redacted(one.url) if one.url else None, "start": one.start}
            for one in specification.dbms
        ],
        "tables": [_table(table) for table in specification.tables],
        "variable": next((table.name for table in specification.tables if table.variable), None),
        "cardinalities": _walk(work.sizes),
        "queries": {
            "written": len(specification.queries),
            "generated": specification.generate.count if specification.generate else 0,
            "of_a_workload": len(queries) if specification.wisconsin else 0,
            "names": [query.name for query in queries],
            "sql": [query.sql for query in queries],
        },
        "qatcs_at_most": {"per_dbms": per_dbms, "total": per_dbms * len(specification.dbms)},
        "qes": {
            "per_qatc": specification.qes,
            "at_most": per_dbms * len(specification.dbms) * specification.qes,
        },
        "rows_to_load": {
            "per_dbms": sum(to_load.values()),
            "total": sum(to_load.values()) * len(specification.dbms),
        },
    }


def _table(table: TableSpec) -> dict[str, Any]:
    return {
        "name": table.name,
        "cardinality": table.cardinality,
        "columns": [column.name for column in table.columns],
        "primary_key": table.primary_key,
        "variable": table.variable,
        "seed": table.seed,
    }


def _walk(walk: Range) -> dict[str, int | None]:
    cardinalities = walk.cardinalities
    return {
        "maximum": cardinalities[0],
        "minimum": cardinalities[-1],
        "step": None if isinstance(walk, Listed) else walk.step,
        "count": len(cardinalities),
    }
