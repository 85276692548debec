"""Keeping what was computed: a temporary table in the engine that computed it."""

from __future__ import annotations

from functools import lru_cache

import ibis.expr.operations as ops
import ibis.expr.types as ir
from ibis.backends import BaseBackend
from ibis.expr.schema import Schema
from ibis.util import gen_name

from tare.lab.compiled import compiled


def kept(table: ir.Table) -> ir.Table:
    """The table's rows, computed now and once. They live as long as the engine's session."""
    backend, name = table.get_backend(), gen_name("tare")
    if backend.name == "duckdb":
        return _in_duckdb(backend, name, table)
    if backend.name == "pyspark":  # its cache keeps how the rows were made, and plans that anew each time
        backend.raw_sql(compiled(table)).localCheckpoint().createOrReplaceTempView(name)
        return backend.table(name)
    return table.cache()


def _in_duckdb(backend: BaseBackend, name: str, table: ir.Table) -> ir.Table:
    """Ibis' own way is to compile the definition and the rows anew, and to read both back from the catalogue."""
    if table.op().find(ops.InMemoryTable):
        return backend.create_table(name, table, temp=True)
    schema = table.schema()
    backend.con.execute(f'CREATE TEMPORARY TABLE "{name}" ({_columns(schema)})')
    backend.con.execute(f'INSERT INTO "{name}" BY NAME {compiled(table)}')
    return ops.DatabaseTable(
        name, schema=schema, source=backend, namespace=ops.Namespace(catalog="temp", database="main")
    ).to_expr()


@lru_cache(maxsize=256)
def _columns(schema: Schema) -> str:
    return ", ".join(column.sql("duckdb") for column in schema.to_sqlglot_column_defs("duckdb"))
