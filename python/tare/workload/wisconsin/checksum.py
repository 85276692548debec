"""Whether a table holds every tuple of a relation, each value in its place: three numbers that any DBMS can tell.

How many tuples there are; a sum in which products tie each integer to its tuple's place, so that a
missing, doubled or exchanged one shows, with nothing on the way beyond 63 bits at 10^8 tuples; and in how many
tuples the three strings belong to their numbers. Strings are dear to take apart: of each one's length and the letter
that varies fastest are looked at, and all 52 letters in every sixteenth tuple (1983: in every one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare._probe import wisconsin_digest
from tare.workload.wisconsin import tuples_1983, tuples_1993
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import (
    STRING_LENGTH,
    Attribute,
    Kind,
    Relation,
    attributes,
    relation,
    relations,
)

PRIME = 2**31 - 1
FIRST_WEIGHT, STEP = 2_654_435_761, 1_000_000_007  # beyond 32 bits: SQL then multiplies in 64


def checksum(relation: Relation, rows: int) -> tuple[int, int, int]:
    """Return the answer that `checksum_sql` must give, as integers, where the large relations have `rows` tuples."""
    count = relation.tuples(rows)
    if relation.generation is Generation.Y1993:
        total = wisconsin_digest(tuples_1993.size(relation, rows), count)
    else:
        total = digest(tuples_1983.tuples(relation, _base(relation), rows), relation.attributes)
    return count, total, count


def checksum_sql(table: str) -> str:
    """For a table that has a relation's name, on any DBMS. Its sums come as integers or decimals, NULL for no tuple.

    Raises KeyError for any other name."""
    generation = next((year for year in Generation if table in {one.name for one in relations(year)}), None)
    if generation is None:
        raise KeyError(table)
    names = _integers(attributes(generation))
    weighed = " + ".join(
        f"{name} * {weight}" for name, weight in zip(names, _weights(len(names)), strict=True)
    )
    return (
        f"SELECT count(*), sum(({weighed}) % {PRIME} * (unique2 + 1) % {PRIME}), "
        f"sum(CASE WHEN {_right(generation)} THEN 1 ELSE 0 END) FROM {table}"
    )


def digest(tuples: Iterator[Sequence[int | str]], of: Sequence[Attribute]) -> int:
    """The sum, by its definition."""
    places = [place for place, attribute in enumerate(of) if attribute.kind is Kind.INTEGER]
    unique2 = next(place for place, attribute in enumerate(of) if attribute.name == "unique2")
    weights = _weights(len(places))
    total = 0
    for one in tuples:
        weighed = sum(int(one[place]) * weight for place, weight in zip(places, weights, strict=True))
        total += weighed % PRIME * (int(one[unique2]) + 1) % PRIME
    return total


def _base(one: Relation) -> Relation:
    return relation(one.generation, one.first_of) if one.first_of else one


def _integers(of: Sequence[Attribute]) -> list[str]:
    return [attribute.name for attribute in of if attribute.kind is Kind.INTEGER]


def _weights(count: int) -> list[int]:
    return [FIRST_WEIGHT + place * STEP for place in range(count)]


# Strings, letter by letter -------------------------------------------------------
_WHOLE_IN = {Generation.Y1983: 1, Generation.Y1993: 16}
_PRIME_ABOVE = {22: 23, 26: 29}


def _right(generation: Generation) -> str:
    """The condition that the three strings of a tuple fulfil."""
    places: Sequence[int]
    four: Sequence[int]
    if generation is Generation.Y1983:
        letters, places, four = tuples_1983.LETTERS, tuples_1983.PLACES, tuples_1983.PLACES
    else:
        letters, four = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", (0, 1, 2, 3)
        places = range(tuples_1993.LETTERS - 1, -1, -1)
    strings = [
        ("stringu1", [*_lettered("stringu1", "unique1", letters, places), *_blank("stringu1", places)]),
        ("stringu2", [*_lettered("stringu2", "unique2", letters, places), *_blank("stringu2", places)]),
        ("string4", [*_cycling("string4", four), *_blank("string4", four)]),
    ]
    each = [
        condition for name, all_ in strings for condition in (all_[0], f"length({name}) = {STRING_LENGTH}")
    ]
    rest = [condition for _, all_ in strings for condition in all_[1:]]
    return f"{' AND '.join(each)} AND (unique2 % {_WHOLE_IN[generation]} > 0 OR {' AND '.join(rest)})"


def _lettered(text: str, key: str, letters: str, places: Sequence[int]) -> Iterator[str]:
    """The letters of a number, the least significant first.

    The DBMSes divide integers in different ways. A digit d of base b stands in the number as d·bᵏ; modulo a prime
    above b that has an inverse, so remainders alone give d."""
    base = len(letters)
    prime = _PRIME_ABOVE[base]
    for power, place in enumerate(places):
        digit = (
            f"{key} % {base}"
            if power == 0
            else f"({_below(key, base ** (power + 1))} - {key} % {base**power}) % {prime} "
            f"* {pow(base, -power, prime)} % {prime}"
        )
        yield f"{_letter(text, place)} = substr('{letters}', {digit} + 1, 1)"


def _below(key: str, bound: int) -> str:
    """Its remainder; what exceeds every integer is left out, since PostgreSQL would go on in 64 bits."""
    return f"{key} % {bound}" if bound < 2**31 else key


def _cycling(text: str, places: Sequence[int]) -> Iterator[str]:
    for place in places:
        yield f"{_letter(text, place)} = substr('AHOV', unique2 % 4 + 1, 1)"


def _blank(text: str, lettered: Sequence[int]) -> Iterator[str]:
    """x's between the letters and behind them."""
    places = sorted(lettered)
    for start, end in zip([-1, *places], [*places, STRING_LENGTH], strict=True):
        if end - start > 1:
            yield f"substr({text}, {start + 2}, {end - start - 1}) = '{'x' * (end - start - 1)}'"


def _letter(text: str, place: int) -> str:
    return f"substr({text}, {place + 1}, 1)"
