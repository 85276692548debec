"""The values of an answer: numbers, booleans and bytes as Python's, everything else as the server's own text.

Python's types have no room for many of PostgreSQL's values (infinite dates, years beyond 9999, long intervals, deep
JSON), and their driver reads one `DateStyle` and `IntervalStyle` only. The server's text is exact under every setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import postgres
from psycopg.adapt import AdaptersMap, Buffer, Loader, Transformer
from psycopg.pq.abc import PGresult

_ROWS_AT_ONCE = 10_000
_AS_PYTHON = ("bool", "int2", "int4", "int8", "oid", "numeric", "float4", "float8", "bytea")
_ARRAYS = ("float4", "float8")  # their values are compared within a tolerance
_SINGLE = frozenset((postgres.types["float4"].oid, postgres.types["float4"].array_oid))


class _ServerText(Loader):
    """In whatever encoding the client has asked for: equal values have equal texts."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(types=postgres.types)
    adapters.register_loader(0, _ServerText)  # every type that no other loader is for
    wanted = [postgres.types[name].oid for name in _AS_PYTHON]
    wanted += [postgres.types[name].array_oid for name in _ARRAYS]
    for oid in wanted:
        loader = psycopg.adapters.get_loader(oid, psycopg.pq.Format.TEXT)
        assert loader is not None
        adapters.register_loader(oid, loader)
    return adapters


class _Context:
    """Context by which psycopg's `Transformer` reads values."""

    adapters = _adapters()
    connection = None


def rows_of(result: PGresult) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a result that was received as text."""
    loader = Transformer(_Context())
    loader.set_pgresult(result)
    for start in range(0, result.ntuples, _ROWS_AT_ONCE):
        yield from loader.load_rows(start, min(start + _ROWS_AT_ONCE, result.ntuples), tuple)


def single_precision(result: PGresult) -> frozenset[int]:
    """Return the columns of type real, and of arrays of it."""
    return frozenset(column for column in range(result.nfields) if result.ftype(column) in _SINGLE)
