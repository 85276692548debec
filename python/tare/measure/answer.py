"""An answer as it is compared: a bag of rows, whose order does not count.

Each row is hashed by itself and the hashes are added modulo 2^128, so that order does not count and duplicates do.
Every value has one text, and numbers that are equal have equal texts, whatever their type. Floating-point values are
hashed at ten significant digits (`CLOSE`) or in full (`EXACT`). A hash of rounded values differs where two values that
are nearly equal lie on both sides of an edge; `CLOSE` therefore keeps the values themselves beside the exact rest of
each row, and `doubles` compares them.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from tare.measure.choices import AnswerRule

if TYPE_CHECKING:
    from tare.measure.doubles import Doubles

_MODULUS = 1 << 128
_LONG = 10**4000  # Python makes no decimal text of a much longer integer
_WITH_DOUBLES = (float, list, tuple, Mapping)
_DOUBLE, _SINGLE = "\x1d", "\x1c"  # place of a floating-point value in the exact rest of a row

Text = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of an execution, apart from the order of its rows."""

    rows: int
    hash: str  # of the whole rows, 32 hex digits
    exact: str  # of the rows without their floating-point values
    doubles: Doubles | None  # None: it has none, or they are compared bit for bit


def answer_hash(rows: Iterable[Sequence[object]]) -> str:
    """32 hex digits for the bag of rows, floating-point values at ten significant digits."""
    return _bag("\x1f".join(canonical(value) for value in row) for row in rows)


def read_answer(
    rows: Iterable[Sequence[object]], rule: AnswerRule, single: frozenset[int] = frozenset()
) -> Answer:
    """Return the answer that `rows` are. `single`: columns whose values are of single precision."""
    doubles: Doubles | None = None
    number = whole = rest = 0
    for row in rows:
        number += 1
        if rule is AnswerRule.EXACT:
            whole += _digest("\x1f".join(_text(value, repr) for value in row))
            continue
        found: list[float] = []
        kinds: list[bool] = []
        texts = [canonical(value) for value in row]
        digest = _digest("\x1f".join(texts))
        whole += digest
        for column, value in enumerate(row):
            if isinstance(value, _WITH_DOUBLES):
                texts[column] = _without(value, column in single, found, kinds)
        exact = _digest("\x1f".join(texts)) if found else digest
        rest += exact
        if found:
            doubles = doubles or _no_doubles()
            doubles.add(exact, tuple(kinds), found)
    whole, rest = whole % _MODULUS, rest % _MODULUS
    return Answer(number, f"{whole:032x}", f"{rest:032x}", doubles and doubles.closed())


def _no_doubles() -> Doubles:
    from tare.measure.doubles import Doubles  # slow to load: only for answers that have such values

    return Doubles()


def canonical(value: object) -> str:
    """Return the text of a value; numbers that are equal have equal texts, whatever their type."""
    return _text(value, _at_ten_digits)


def _bag(texts: Iterable[str]) -> str:
    return f"{sum(map(_digest, texts)) % _MODULUS:032x}"


def _digest(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest, "big")


def _text(value: object, of_float: Text) -> str:
    if value is None:
        return "\x00"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value) if abs(value) < _LONG else hex(value)
    if isinstance(value, float):
        return of_float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _number(value) if value.is_finite() else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return "x" + bytes(value).hex()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _without(value: object, is_single: bool, found: list[float], kinds: list[bool]) -> str:
    """Text of a value whose floating-point values, at any depth, are put into `found`."""
    if isinstance(value, float) and math.isfinite(value):
        found.append(value)
        kinds.append(is_single)
        return _SINGLE if is_single else _DOUBLE
    if isinstance(value, list | tuple):
        return f"[{', '.join(repr(_without(part, is_single, found, kinds)) for part in value)}]"
    if isinstance(value, Mapping):
        parts = (f"{key!r}: {_without(part, is_single, found, kinds)!r}" for key, part in value.items())
        return f"{{{', '.join(parts)}}}"
    return canonical(value)


def _at_ten_digits(value: float) -> str:
    text = f"{value:.10g}"
    return _number(Decimal(text)) if "e" in text or text == "-0" else text


def _number(value: Decimal) -> str:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
