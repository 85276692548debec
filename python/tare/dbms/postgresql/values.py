"""Values of PostgreSQL that Python's types have no room for: they are kept as the server's text."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.adapt import Buffer, Loader
from psycopg.types import datetime, json

# Infinite dates, years before 1 and after 9999, 24:00, long intervals, deep JSON.
_WIDER: dict[str, type[Loader]] = {
    "date": datetime.DateLoader,
    "time": datetime.TimeLoader,
    "timetz": datetime.TimetzLoader,
    "timestamp": datetime.TimestampLoader,
    "timestamptz": datetime.TimestamptzLoader,
    "interval": datetime.IntervalLoader,
    "json": json.JsonLoader,
    "jsonb": json.JsonbLoader,
}


def register_lenient_loaders(connection: psycopg.Connection[Any]) -> None:
    """Value by value, so that equal values stay equal whatever stands beside them."""
    for name, strict in _WIDER.items():
        connection.adapters.register_loader(name, _lenient(strict))


def _lenient(strict: type[Loader]) -> type[Loader]:
    class Lenient(strict):  # type: ignore[misc, valid-type]
        def load(self, data: Buffer) -> Any:
            try:
                return super().load(data)
            except (psycopg.DataError, ValueError, OverflowError, RecursionError):
                return bytes(data).decode()

    return Lenient
