"""Rows as `tare.protocol.derived` has them, made of the few measures that a test is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from tare.protocol.model import tables
from tare.protocol.model.holding import TYPES
from tare.protocol.model.result import ModelResult, Observed

Number = int | float | None

COLUMNS = sorted(
    ({name for model in tables.MODELS for name in tables.load(model).measures} - {"overall_maj_faults"})
    | {f"{one}_maj_faults" for one in TYPES}
)


def qes(given: Mapping[str, Sequence[Number]], dbms: str | Sequence[str] = "postgresql") -> ir.Table:
    """Table with a row per QE; measures that are not given are 0 throughout."""
    n = len(next(iter(given.values()))) if given else 0
    columns = {
        name: pa.array([None if x is None else float(x) for x in given.get(name, [0] * n)], pa.float64())
        for name in COLUMNS
    }
    names = [dbms] * n if isinstance(dbms, str) else list(dbms)
    connection = ibis.duckdb.connect()
    connection.con.register("made", pa.table({**columns, "dbms": pa.array(names, pa.string())}))
    return connection.table("made")


def named(result: ModelResult, name: str, dbms: str | None = None) -> Observed:
    (found,) = (one for one in result.of(dbms) if one.relationship.name == name)
    return found
