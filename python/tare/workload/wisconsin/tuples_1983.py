"""The tuples of 1983 (section 3.1): unique2 counts in load order, unique1 is a permutation, the rest is drawn evenly.

In all ten rows of the paper's Figure 1, ten is hundred mod 10 and two is ten mod 2, while thousand follows from
neither: so two, four, ten and twenty are remainders of hundred here, and odd100 and even100 are made of it, while
each larger range has a draw of its own. The paper's random numbers are not known; these are Philox words, keyed by
the relation's size and seed, the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from tare.workload.wisconsin.relations import STRING_LENGTH, Relation

LETTERS = "ABCDEFGHIJKLMNOPQRSTUV"
PLACES = (0, 26, 51)
"""Places of the significant letters: the first varies fastest."""

_DRAWN = {"hundred": 100, "thousand": 1_000, "twothous": 2_000, "fivethous": 5_000, "tenthous": 10_000}


def tuples(relation: Relation, base: Relation, rows: int) -> Iterator[tuple[Any, ...]]:
    """In load order. `base` is the relation whose first tuples it holds: itself, or `relation.first_of`."""
    key = f"wisconsin/1983/{base.tuples(rows)}/{base.seed}"
    scattered = np.argsort(_words(f"{key}/unique1", base.tuples(rows)), kind="stable").tolist()
    drawn = {name: _drawn(f"{key}/{name}", base.tuples(rows), end) for name, end in _DRAWN.items()}
    for unique2, unique1 in islice(enumerate(scattered), relation.tuples(rows)):
        values = _values(unique1, unique2, {name: column[unique2] for name, column in drawn.items()})
        yield tuple(values[attribute.name] for attribute in relation.attributes)


def _values(unique1: int, unique2: int, drawn: dict[str, int]) -> dict[str, int | str]:
    hundred = drawn["hundred"]
    return {
        "unique1": unique1,
        "unique2": unique2,
        "two": hundred % 2,
        "four": hundred % 4,
        "ten": hundred % 10,
        "twenty": hundred % 20,
        **drawn,
        "odd100": 2 * hundred + 1,
        "even100": 2 * hundred,
        "stringu1": _string(*_letters(unique1)),
        "stringu2": _string(*_letters(unique2)),
        "string4": _string(*("AHOV"[unique2 % 4] * 3)),
    }


def _letters(number: int) -> str:
    base = len(LETTERS)
    return "".join(LETTERS[number // base**place % base] for place in range(len(PLACES)))


def _string(first: str, middle: str, last: str) -> str:
    between = [end - start - 1 for start, end in zip(PLACES, (*PLACES[1:], STRING_LENGTH), strict=True)]
    return f"{first}{'x' * between[0]}{middle}{'x' * between[1]}{last}"


def _drawn(key: str, count: int, end: int) -> list[int]:
    """Evenly over 0 … end − 1, but for a bias below end / 2^32."""
    words = _words(key, count)
    scaled: list[int] = (((words >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32)).tolist()
    return scaled


def _words(key: str, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Raw words, which NumPy keeps for ever; its distributions may change."""
    digest = hashlib.sha256(key.encode()).digest()[:16]
    return np.random.Philox(key=int.from_bytes(digest, "big")).random_raw(count)
