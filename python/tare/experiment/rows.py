"""The rows of an experiment's tables: the same on every machine and every DBMS, for the same seed.

A column's stream is Philox-4x64-10, keyed by SHA-256 of seed, table and column. Only its raw 64-bit
words are used, which NumPy keeps unchanged for ever, and they are scaled in integers: NumPy's own
distributions may change from one version to the next. Row n does not depend on how many there are,
so a smaller cardinality is a beginning of a larger one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tare.experiment.specification import ColumnSpec, TableSpec

Values = NDArray[np.int64]

CHUNK = 65_536  # rows


def chunks(table: TableSpec, cardinality: int, size: int = CHUNK) -> Iterator[tuple[int, list[Values]]]:
    """(rows before, the columns' values) for the first `cardinality` rows, `size` at a time."""
    streams = [_stream(table, column) for column in table.columns]
    for start in range(0, cardinality, size):
        count = min(size, cardinality - start)
        yield (
            start,
            [
                np.arange(start + 1, start + count + 1, dtype=np.int64)
                if column.name == table.primary_key
                else _scaled(stream.random_raw(count), *table.domain(column))
                for column, stream in zip(table.columns, streams, strict=True)
            ],
        )


def _stream(table: TableSpec, column: ColumnSpec) -> np.random.Philox:
    key = hashlib.sha256(f"{table.seed}/{table.name}/{column.name}".encode()).digest()[:16]
    return np.random.Philox(key=int.from_bytes(key, "big"))


def _scaled(words: NDArray[np.uint64], low: int, high: int) -> Values:
    """Evenly over low … high (at most 2^32 values), but for a bias below (high − low + 1) / 2^32."""
    spread = np.uint64(high - low + 1)
    scaled = ((words >> np.uint64(32)) * spread) >> np.uint64(32)
    return scaled.astype(np.int64) + low
