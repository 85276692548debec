"""The answer's check: whether two executions of a statement gave the same bag of rows.

What is exact is compared exactly: each row is hashed alone and the hashes are added modulo 2^128, so order is of
no account and duplicates are. Binary floating-point values are compared by a relative tolerance
(`tare.measure.doubles`), since a parallel sum differs in its last bits from one execution to the next. The hash
that is printed and stored has them at ten significant digits. A value next to the edge of such a rounding falls on
either side, so an answer that is close to the first one is given the first one's hash.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import isfinite

from tare.measure.choices import AnswerRule
from tare.measure.doubles import TOLERANCE, Apart, Doubles

_MODULUS = 1 << 128
_DOUBLE = "\x02"  # in the place of a double, where only the rest of a row counts


class Change(StrEnum):
    """Kinds of difference between two answers."""

    NOTHING = "nothing"
    ROWS = "rows"  # their number
    VALUES = "values"  # what is compared exactly
    DOUBLES = "doubles"  # by more than the tolerance


@dataclass(frozen=True, slots=True)
class Difference:
    """How an answer differs from the first one. `apart` is None where no doubles were compared."""

    change: Change
    rows: tuple[int, int]  # of the first one, and of this one
    apart: Apart | None = None

    @property
    def text(self) -> str:
        if self.change is Change.NOTHING:
            return "no difference"
        if self.change is Change.ROWS:
            return f"{self.rows[1]:,} rows after {self.rows[0]:,}"
        if self.change is Change.VALUES or self.apart is None:
            return f"other values in {self.rows[0]:,} row{'' if self.rows[0] == 1 else 's'}"
        pair = "" if self.apart.values is None else " ({!r} and {!r})".format(*self.apart.values)
        return (
            f"a floating-point value differs by {self.apart.relative:.2g} of itself{pair}; "
            f"up to {TOLERANCE:g} counts as equal"
        )


class Answer:
    """Summary of a result's rows, in bounded memory."""

    def __init__(
        self, row_count: int, rows: Iterable[Sequence[object]], rule: AnswerRule = AnswerRule.CLOSE
    ) -> None:
        self.row_count = row_count
        self.doubles = Doubles()
        self._exact = total = 0
        for row in rows:
            if rule is AnswerRule.EXACT:
                total += _digest("\x1f".join(_text(value, _every_digit) for value in row))
                continue
            doubles: list[float] = []
            text = "\x1f".join(_text(value, doubles.append) for value in row)
            exact = _digest(text)
            self._exact += exact
            if doubles:
                total += _digest(_filled(text, doubles))
                self.doubles.add(exact >> 64, doubles)
            else:
                total += exact
        self._exact %= _MODULUS
        self.hash = f"{total % _MODULUS:032x}"
        self.doubles.sort()

    def difference(self, first: Answer) -> Difference:
        rows = (first.row_count, self.row_count)
        if self.row_count != first.row_count:
            return Difference(Change.ROWS, rows)
        if self._exact == first._exact and len(self.doubles) == len(first.doubles) > 0:
            apart = first.doubles.apart(self.doubles)
            change = Change.DOUBLES if apart.relative > TOLERANCE else Change.NOTHING
            return Difference(change, rows, apart)
        return Difference(Change.NOTHING if self.hash == first.hash else Change.VALUES, rows)


@dataclass(frozen=True, slots=True)
class Compared:
    """Hash of an answer, which is the first one's where the two are equal, and how they differ."""

    hash: str
    difference: Difference | None  # None: it is the first


class FirstAnswer:
    """First answer to a statement, with which those of its later executions are compared.

    `alike`: first answers of other statements; one that is equal lends its hash. `recorded`: rows and hash of an
    execution in an earlier session, whose doubles are not known any more."""

    def __init__(
        self,
        rule: AnswerRule = AnswerRule.CLOSE,
        alike: Iterable[FirstAnswer] = (),
        recorded: tuple[int | None, str | None] | None = None,
    ) -> None:
        self._rule = rule
        self._alike = tuple(alike)
        self._recorded = recorded
        self._first: Answer | None = None
        self._hash = ""

    def compare(self, row_count: int, rows: Iterable[Sequence[object]]) -> Compared:
        answer = Answer(row_count, rows, self._rule)
        if self._first is None:
            self._first, self._hash = answer, self._lent(answer)
            return Compared(self._hash, None)
        difference = answer.difference(self._first)
        same = difference.change is Change.NOTHING
        return Compared(self._hash if same else answer.hash, difference)

    def _lent(self, answer: Answer) -> str:
        if self._recorded is not None and len(answer.doubles) and self._recorded[0] == answer.row_count:
            return self._recorded[1] or answer.hash
        for other in self._alike:
            if other._first is not None and answer.difference(other._first).change is Change.NOTHING:
                return other._hash
        return answer.hash


def answer_hash(rows: Iterable[Sequence[object]]) -> str:
    """32 hex digits for the bag of rows."""
    return Answer(0, rows).hash


def canonical(value: object) -> str:
    """Text of a value; numbers that are equal have equal texts, whatever their type."""
    return _text(value, _ten_digits)


def _filled(text: str, doubles: Sequence[float]) -> str:
    """The text with its doubles, at ten digits, in the place of their marks."""
    parts = text.split(_DOUBLE)
    if len(parts) != len(doubles) + 1:  # a text in the row has the mark in it
        return text + "\x1f".join(map(_ten_digits, doubles))
    filled = [parts[0]]
    for part, double in zip(parts[1:], doubles, strict=True):
        filled += (_ten_digits(double), part)
    return "".join(filled)


def _digest(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()
    return int.from_bytes(digest, "big")


def _text(value: object, double: Callable[[float], str | None]) -> str:
    """`double` gives the text of a finite double, or takes it: then a mark stands in its place."""
    if value is None:
        return "\x00"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return (double(value) or _DOUBLE) if isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _number(value) if value.is_finite() else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return "x" + bytes(value).hex()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple) and _holds_double(value):
        return f"[{', '.join(_text(part, double) for part in value)}]"
    if isinstance(value, dict) and _holds_double(value):
        return f"{{{', '.join(f'{key}: {_text(part, double)}' for key, part in value.items())}}}"
    return str(value)


def _holds_double(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_double, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_double, value))
    return isinstance(value, float)


def _ten_digits(value: float) -> str:
    text = f"{value:.10g}"
    if "e" in text:
        return _number(Decimal(text))
    return text if value else "0"  # the format leaves out trailing zeros


def _every_digit(value: float) -> str:
    return _number(Decimal(repr(value)))


def _number(value: Decimal) -> str:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
