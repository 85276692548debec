"""Answers of a page's length, out of whatever engine computed them, as plain values."""

from __future__ import annotations

from typing import Any

import ibis.expr.types as ir

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
