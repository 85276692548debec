"""Results of an engine's expressions: answers of a page's length as plain values, and tables that the engine keeps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ibis.expr.operations as ops
import ibis.expr.types as ir
from ibis.expr.schema import Schema
from ibis.util import gen_name

from tare.lab.compiled import Query


def rows(table: ir.Table) -> list[dict[str, Any]]:
    """By column, in the table's order."""
    query = Query(table)
    if query.runs_in_duckdb:
        # Ibis' own way, by Arrow, loads pandas: a fifth of a second. DuckDB's `sql` would bind the query twice.
        found = query.backend.con.execute(query.sql()).fetchall()
        return [dict(zip(table.columns, values, strict=True)) for values in found]
    listed: list[dict[str, Any]] = table.to_pyarrow().to_pylist()
    return listed


def row(table: ir.Table) -> dict[str, Any]:
    """Return the row of a table that has one."""
    (found,) = rows(table)
    return found


def value(scalar: ir.Scalar) -> Any:
    """Return the value of an aggregate over a whole table."""
    (found,) = row(scalar.as_table()).values()
    return found


def kept(table: ir.Table) -> ir.Table:
    """Return the table's rows, computed now and once: a temporary table in the engine that computed it.

    They live as long as the engine's session."""
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
