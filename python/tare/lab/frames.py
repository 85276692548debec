"""The lab as a protocol sees it: six tables of Ibis expressions, whatever engine holds them.

The same expressions run on DuckDB over a lab or its Parquet export and, unchanged, on Spark (or
another Ibis engine) over the export. Columns are those of `tare.lab.schema`; what is added is said
beside each table.
"""

from __future__ import annotations

from dataclasses import dataclass

import ibis.expr.types as ir


@dataclass(frozen=True)
class Frames:
    """Restricted to the runs that were asked for.

    run      run.*, with `experiment`, `scenario` (names), `dbms`, `dbms_version`
    query    query.*
    qatc     qatc.* without `plan`, with `query` (name), `query_number`, `dbms`
    qe       qe.* that count: the last attempt of their Q@C, no warm-up, outcome ok or timeout and
             `number` not NULL; with `query_id`, `cardinality`, `dbms`, `tick_ns`, `cache`
    process  process.* of those QEs, with `qatc_id`
    cpu      cpu.* of those QEs
    """

    run: ir.Table
    query: ir.Table
    qatc: ir.Table
    qe: ir.Table
    process: ir.Table
    cpu: ir.Table
