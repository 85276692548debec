"""The answers of a run: whether each execution of a query gave the answer of its first one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tare.dbms.base import Fetched
from tare.errors import TareError
from tare.measure.answer import Answer, answer_hash, read_answer
from tare.measure.choices import AnswerRule


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The comparison of one execution's answer. Answers that are the same have one hash."""

    hash: str | None  # of the answer that it counts as; None where it was not compared
    difference: float | None = (
        None  # largest relative one to the query's first answer; None: no values were compared
    )
    by_sums: bool = False  # there were too many values to compare each
    unread: str | None = None  # why the answer could not be read; None: it was, or was not to be
    size_bytes: int | None = None  # as `Fetched.size_bytes`


class Answers:
    """The first answer of each query, and what others are compared by."""

    def __init__(self, rule: AnswerRule = AnswerRule.CLOSE) -> None:
        self._rule = rule
        self._first: dict[
            int, tuple[Answer, str]
        ] = {}  # by query: its answer, and the hash that it counts as

    def check(self, query: int, fetched: Fetched) -> AnswerCheck:
        """Compare an answer with the query's first. If it is the query's first, it counts as that of another query
        that it agrees with. Raises what the DBMS raises; a value that its driver cannot read is not an error."""
        return replace(self._checked(query, fetched), size_bytes=fetched.size_bytes)

    def _checked(self, query: int, fetched: Fetched) -> AnswerCheck:
        if self._rule is AnswerRule.ANY:
            return AnswerCheck(None)
        try:
            found = read_answer(fetched.rows(), self._rule, fetched.single_precision)
        except TareError:
            raise
        except Exception as error:  # whatever a driver makes of a value that it has no room for
            return AnswerCheck(None, unread=f"the driver cannot read a value ({_shown(error)})")
        first = self._first.get(query)
        if first is None:
            return self._begun(query, found)
        agree, difference = _compared(found, first[0])
        return AnswerCheck(first[1] if agree else found.hash, difference, _by_sums(found))

    def _begun(self, query: int, found: Answer) -> AnswerCheck:
        alike = next((hash_ for other, hash_ in self._first.values() if _compared(found, other)[0]), None)
        counts_as = alike or found.hash
        self._first[query] = (found, counts_as)
        return AnswerCheck(counts_as, None if found.doubles is None else 0.0, _by_sums(found))


def plain_check(fetched: Fetched) -> AnswerCheck:
    """The answer by itself, compared with no other."""
    return AnswerCheck(answer_hash(fetched.rows()))


def _compared(a: Answer, b: Answer) -> tuple[bool, float | None]:
    """Whether both are the same, and the largest relative difference if they differ in floating-point values only."""
    if a.rows != b.rows:
        return False, None
    if a.exact != b.exact or a.doubles is None or b.doubles is None:
        return a.hash == b.hash, None
    return a.doubles.compared(b.doubles)


def _by_sums(answer: Answer) -> bool:
    return answer.doubles is not None and answer.doubles.by_sums


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:120]}" if text else type(error).__name__
