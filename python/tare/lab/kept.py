"""Keeping what was computed: a temporary table in the engine that computed it."""

from __future__ import annotations

from functools import lru_cache

import ibis.expr.operations as ops
import ibis.expr.types as ir
from ibis.expr.schema import Schema
from ibis.util import gen_name

from tare.lab.compiled import Query


def kept(table: ir.Table) -> ir.Table:
    """The table's rows, computed now and once. They live as long as the engine's session."""
    query, name = Query(table), gen_name("tare")
    if query.runs_in_duckdb:
        return _in_duckdb(query, name)
    if query.backend.name == "duckdb":
        return query.backend.create_table(name, table, temp=True)
    if (
        query.backend.name == "pyspark"
    ):  # its cache keeps how the rows were made, and plans that anew each time
        query.backend.raw_sql(query.sql()).localCheckpoint().createOrReplaceTempView(name)
        return query.backend.table(name)
    return table.cache()


def _in_duckdb(query: Query, name: str) -> ir.Table:
    """Ibis' own way compiles the definition anew, and reads it back from the catalogue."""
    schema, con = query.table.schema(), query.backend.con
    con.execute(f'CREATE TEMPORARY TABLE "{name}" ({_columns(schema)})')
    con.execute(f'INSERT INTO "{name}" BY NAME {query.sql()}')
    place = ops.Namespace(catalog="temp", database="main")
    return ops.DatabaseTable(name, schema=schema, source=query.backend, namespace=place).to_expr()


@lru_cache(maxsize=256)
def _columns(schema: Schema) -> str:
    return ", ".join(column.sql("duckdb") for column in schema.to_sqlglot_column_defs("duckdb"))
