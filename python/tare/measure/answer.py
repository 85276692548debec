"""The answer's check: a hash that does not depend on the order of rows.

Two QEs of one query must give the same bag of rows. Each row is hashed alone
and the hashes are added modulo 2^128, so order is of no account and duplicates
are. Binary floating-point values are compared at ten significant digits, since
a parallel sum may differ in its last bits from one QE to the next.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal

_MODULUS = 1 << 128


def answer_hash(rows: Iterable[Sequence[object]]) -> str:
    """32 hex digits for the bag of rows."""
    total = 0
    for row in rows:
        text = "\x1f".join(canonical(value) for value in row)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()
        total = (total + int.from_bytes(digest, "big")) % _MODULUS
    return f"{total:032x}"


def canonical(value: object) -> str:
    """One text per value; numbers that are equal have equal texts, whatever their type."""
    if value is None:
        return "\x00"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return (
            _number(Decimal(f"{value:.10g}")) if value == value and abs(value) != float("inf") else str(value)
        )
    if isinstance(value, Decimal):
        return _number(value) if value.is_finite() else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return "x" + bytes(value).hex()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _number(value: Decimal) -> str:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
