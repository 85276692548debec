"""The tuples of 1993, by their definition: the reference to which the fast generator is held.

unique1 is scattered by the powers of a primitive root, modulo the prime next above the relation's size; powers
beyond the size are passed over. The test is `≤`, since the powers begin at 1 and values at 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tare.workload.wisconsin.relations import STRING_LENGTH, Relation

ROOTS = (
    (10**3, 279, 1_009),
    (10**4, 2_969, 10_007),
    (10**5, 21_395, 100_003),
    (10**6, 2_107, 1_000_003),
    (10**7, 211, 10_000_019),
    (10**8, 21, 100_000_007),
)
"""Up to so many tuples: a primitive root of a prime. A size between two powers of ten takes the larger one's."""

LETTERS = 7


def size(relation: Relation, rows: int) -> int:
    """Return the size of the relation whose first tuples it holds: its own, except for Bprime."""
    return rows if relation.first_of else relation.tuples(rows)


def tuples(relation: Relation, rows: int) -> Iterator[tuple[Any, ...]]:
    """In load order. Raises ValueError for a size that no relation has."""
    scattered = islice(_unique1(size(relation, rows)), relation.tuples(rows))
    for unique2, unique1 in enumerate(scattered):
        values = _values(unique1, unique2)
        yield tuple(values[attribute.name] for attribute in relation.attributes)


def _unique1(size: int) -> Iterator[int]:
    root = next(((g, p) for most, g, p in ROOTS if 0 < size <= most), None)
    if root is None:
        raise ValueError(f"a relation has 1 to {ROOTS[-1][0]:,} tuples, not {size:,}")
    generator, prime = root
    seed = generator
    while True:
        seed = generator * seed % prime
        if seed <= size:
            yield seed - 1


def _values(unique1: int, unique2: int) -> dict[str, int | str]:
    one_percent = unique1 % 100
    return {
        "unique1": unique1,
        "unique2": unique2,
        "two": unique1 % 2,
        "four": unique1 % 4,
        "ten": unique1 % 10,
        "twenty": unique1 % 20,
        "onePercent": one_percent,
        "tenPercent": unique1 % 10,
        "twentyPercent": unique1 % 5,
        "fiftyPercent": unique1 % 2,
        "unique3": unique1,
        "evenOnePercent": 2 * one_percent,
        "oddOnePercent": 2 * one_percent + 1,
        "stringu1": _string(unique1),
        "stringu2": _string(unique2),
        "string4": ("AHOV"[unique2 % 4] * 4).ljust(STRING_LENGTH, "x"),
    }


def _string(number: int) -> str:
    """Seven letters, A for 0 to Z for 25, the most significant first."""
    letters = (chr(ord("A") + number // 26**place % 26) for place in range(LETTERS - 1, -1, -1))
    return "".join(letters).ljust(STRING_LENGTH, "x")
