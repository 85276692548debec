"""Fingerprint of a table, which depends on the order of its rows. SQL and NumPy compute it alike.

For row number r (from 1, in the table's own order) with the columns c1, c2, …

    x = (a0·r + a1·(c1 + 2^31) + a2·(c2 + 2^31) + …) mod p,  each product taken mod p
    fingerprint = Σ x² mod p,  p = 2^31 − 1

twice, with other factors a. The square ties a row's values to each other and to its place, so a row
that is changed, moved, lost or doubled shows, but for one chance in 2^60 or so. It is no
cryptographic hash: it guards against accidents. In SQL it is one aggregate over one scan, in 64-bit
integers, and hence the same on every DBMS.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from tare.experiment.rows import Values, chunks
from tare.experiment.specification import TableSpec

PLACE = "tare_r"
_P = 2**31 - 1
_SHIFT = 2**31


def expected(table: TableSpec, cardinality: int) -> str:
    """Return the fingerprint of the first `cardinality` rows, from the generator alone."""
    sums = [0, 0]
    for start, columns in chunks(table, cardinality):
        place = np.arange(start + 1, start + len(columns[0]) + 1, dtype=np.uint64)
        for which in (0, 1):
            sums[which] += _sum(place, columns, _factors(which, len(columns)))
    return shown(cardinality, *sums)


def shown(rows: int, first: int, second: int) -> str:
    return f"{rows}:{first:x}:{second:x}"


def sql(numbered: str, columns: Sequence[str], bigint: Callable[[str], str]) -> str:
    """A query for (rows, first sum, second sum). `numbered` is one for the columns and `tare_r`, the
    row's place in the table from 1; `bigint` writes a cast to 64 bits."""
    xs = []
    for which in (0, 1):
        first, *rest = _factors(which, len(columns))
        terms = [f"{first} * {bigint(PLACE)} % {_P}"]
        terms += [
            f"{factor} * (({bigint(column)} + {_SHIFT}) % {_P}) % {_P}"
            for factor, column in zip(rest, columns, strict=True)
        ]
        xs.append(f"({' + '.join(terms)}) % {_P} AS x{which}")
    return (
        f"SELECT count(*), sum(x0 * x0 % {_P}), sum(x1 * x1 % {_P}) "
        f"FROM (SELECT {', '.join(xs)} FROM ({numbered}) AS placed) AS mixed"
    )


def _sum(place: np.ndarray[tuple[int], np.dtype[np.uint64]], columns: Sequence[Values], by: list[int]) -> int:
    p = np.uint64(_P)
    x = place * np.uint64(by[0]) % p
    for factor, column in zip(by[1:], columns, strict=True):
        x += np.uint64(factor) * ((column + _SHIFT).astype(np.uint64) % p) % p
    x %= p
    return int((x * x % p).sum())


def _factors(which: int, columns: int) -> list[int]:
    """Return factors of the row's place and of each column: below 2^31, so that no product leaves 62 bits."""
    drawn = random.Random(f"tare-fingerprint-{which}")
    return [1 + int(drawn.random() * (_P - 2)) for _ in range(columns + 1)]
