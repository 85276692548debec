"""Keeping what was computed: a temporary table in the engine that computed it."""

from __future__ import annotations

import ibis.expr.types as ir
from ibis.util import gen_name


def kept(table: ir.Table) -> ir.Table:
    """The table's rows, computed now and once. They live as long as the engine's session."""
    backend, name = table.get_backend(), gen_name("tare")
    if backend.name == "duckdb":
        return backend.create_table(name, table, temp=True)
    if backend.name == "pyspark":  # its cache keeps how the rows were made, and plans that anew each time
        backend.raw_sql(backend.compile(table)).localCheckpoint().createOrReplaceTempView(name)
        return backend.table(name)
    return table.cache()
