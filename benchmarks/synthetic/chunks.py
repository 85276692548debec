"""The synthetic lab, table by table and run by run: a run is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import PCG64, Generator

from benchmarks.synthetic.executions import executions
from benchmarks.synthetic.hierarchy import queries_and_qatcs, run_row, sizes, top
from benchmarks.synthetic.records import records
from benchmarks.synthetic.shape import QES
from tare.lab.parquet import arrow_schema, table_of

QATCS = 55_585
"""TTPv2's confirmatory experiment; ten QEs each."""


def chunks(qatcs: int = QATCS, seed: int = 1) -> Iterator[tuple[str, pa.Table]]:
    """Tables by name, in an order in which every row comes after those it refers to."""
    for name, rows in top().items():
        yield name, _of_rows(name, rows)
    first_query = first_qatc = first_qe = 1
    for place, counts in enumerate(sizes(_random(seed, 0), qatcs)):
        run = place + 1
        random = _random(seed, run)
        queries, visited, timed = queries_and_qatcs(random, run, counts, first_query, first_qatc)
        yield "run", _of_rows("run", [run_row(run)])
        yield "query", _of_rows("query", queries)
        yield "qatc", _of_rows("qatc", visited)
        for name, columns in records(random, timed, executions(random, timed), first_qe).items():
            yield name, _of_columns(name, columns)
        first_query += len(queries)
        first_qatc += len(visited)
        first_qe += len(timed.id) * QES


def _random(seed: int, run: int) -> Generator:
    return np.random.Generator(PCG64([seed, run]))


def _of_rows(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=arrow_schema(table_of(name)))


def _of_columns(name: str, columns: Mapping[str, Any]) -> pa.Table:
    size = len(next(iter(columns.values())))
    schema = arrow_schema(table_of(name))
    unknown = columns.keys() - set(schema.names)
    if unknown:
        raise KeyError(f"{name} has no columns {sorted(unknown)}")
    arrays = []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(size, field.type))
        else:
            made = values if isinstance(values, pa.Array) else pa.array(values)
            arrays.append(made.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
