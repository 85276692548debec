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
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tare.measure.choices import AnswerRule

if TYPE_CHECKING:
    from tare.measure.doubles import Doubles

_MODULUS = 1 << 128
_AT_ONCE = 1000
_LONG = 10**4000  # Python makes no decimal text of a much longer integer
_WITH_DOUBLES = (float, list, tuple, Mapping)
_DOUBLE, _SINGLE = "\x1d", "\x1c"  # place of a floating-point value in the exact rest of a row

Text = Callable[[float], str]
_Found = tuple[
    list[float], list[bool]
]  # of a row: its floating-point values, and which are of single precision


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of an execution, apart from the order of its rows."""

    rows: int
    hash: str  # of the whole rows, 32 hex digits
    exact: str  # of the rows without their floating-point values
    doubles: Doubles | None  # None: it has none, or they are compared bit for bit


def answer_hash(rows: Iterable[Sequence[object]]) -> str:
    """32 hex digits for the bag of rows, floating-point values at ten significant digits."""
    return _hash(sum(sum(_digests(part, _texts_of(part, _at_ten_digits))) for part in _parts(rows)))


def read_answer(
    rows: Iterable[Sequence[object]], rule: AnswerRule, single: frozenset[int] = frozenset()
) -> Answer:
    """Return the answer that `rows` are. `single`: columns whose values are of single precision."""
    doubles: Doubles | None = None
    number = whole = rest = 0
    for part in _parts(rows):
        number += len(part)
        texts = _texts_of(part, repr if rule is AnswerRule.EXACT else _at_ten_digits)
        digests = _digests(part, texts)
        whole += sum(digests)
        if rule is AnswerRule.EXACT:
            continue
        found = _take_doubles(part, texts, single)
        if not any(values for values, _ in found):
            rest += sum(digests)
            continue
        doubles = doubles or _no_doubles()
        exact = _digests(part, texts)
        for row, (values, kinds) in enumerate(found):
            rest += exact[row] if values else digests[row]
            if values:
                doubles.add(exact[row], tuple(kinds), values)
    return Answer(number, _hash(whole), _hash(rest), doubles and doubles.closed())


def _take_doubles(
    part: list[Sequence[object]], texts: list[Sequence[str]], single: frozenset[int]
) -> list[_Found]:
    """Take the floating-point values out of `texts` and return those of each row."""
    found: list[_Found] = [([], []) for _ in part]
    for column, values in enumerate(zip(*part, strict=True)):
        if any(issubclass(kind, _WITH_DOUBLES) for kind in set(map(type, values))):
            is_single = column in single
            texts[column] = [
                _without(value, is_single, *of_row) for value, of_row in zip(values, found, strict=True)
            ]
    return found


def _no_doubles() -> Doubles:
    from tare.measure.doubles import Doubles  # slow to load: only for answers that have such values

    return Doubles()


def canonical(value: object) -> str:
    """Return the text of a value; numbers that are equal have equal texts, whatever their type."""
    return _text(value, _at_ten_digits)


def _parts(rows: Iterable[Sequence[object]]) -> Iterator[list[Sequence[object]]]:
    """Rows by the thousand: a column of them mostly has one type, and is then read as one."""
    rest = iter(rows)
    while part := list(itertools.islice(rest, _AT_ONCE)):
        yield part


def _texts_of(part: list[Sequence[object]], of_float: Text) -> list[Sequence[str]]:
    """Texts of the values, column by column."""
    return [_column(values, of_float) for values in zip(*part, strict=True)]


def _column(values: Sequence[Any], of_float: Text) -> Sequence[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    if kinds == {int} and max(values) < _LONG and min(values) > -_LONG:
        return list(map(str, values))
    if kinds == {float}:
        return [of_float(value) if math.isfinite(value) else str(value) for value in values]
    return [_text(value, of_float) for value in values]


def _digests(part: list[Sequence[object]], texts: list[Sequence[str]]) -> list[int]:
    """Return a hash of each row. `texts`: as _texts_of returns them; none where a row has no columns."""
    rows = zip(*texts, strict=True) if texts else ((),) * len(part)
    return [_digest("\x1f".join(row)) for row in rows]


def _digest(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest, "big")


def _hash(total: int) -> str:
    return f"{total % _MODULUS:032x}"


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
