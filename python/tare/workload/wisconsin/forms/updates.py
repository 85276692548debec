"""Updates of one tuple: append, delete, modify a key or a non-key (1983, section 4.5). Each can be undone.

What is deleted is a tuple that was appended for it just before: taking one of the relation's own away and
putting it back would leave it at another place in a heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tare.workload.wisconsin.forms.selections import Variants, key
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.naming import Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, Kind, attributes

_MODIFIED = 1491  # at 10,000 tuples

Appended = Callable[[str, int], str]
"""(relation, key) -> the statement that appends a tuple with this key"""


def append(naming: Naming, appended: Appended) -> Variants:
    def variants(rows: int) -> Iterator[Variant]:
        for turn, relation, _ in naming.turns():
            new = _new_key(rows, turn)
            yield Variant(
                appended(relation, new),
                1,
                undo=(f"DELETE FROM {relation} WHERE unique2 = {new}",),
                changes=relation,
            )

    return lambda rows: tuple(variants(rows))


def delete(naming: Naming, attribute: str, appended: Appended) -> Variants:
    def variants(rows: int) -> Iterator[Variant]:
        for turn, relation, _ in naming.turns():
            guest = f"{attribute} = {_new_key(rows, turn)}"
            sql = f"DELETE FROM {relation} WHERE {guest}"
            yield Variant(
                sql,
                1,
                setup=(appended(relation, _new_key(rows, turn)),),
                guest=guest,
                undo=(sql,),
                changes=relation,
            )

    return lambda rows: tuple(variants(rows))


def modify(naming: Naming, attribute: str) -> Variants:
    """Finds a tuple by a key and gives it another value of it, which no tuple has."""

    def variants(rows: int) -> Iterator[Variant]:
        for turn, relation, _ in naming.turns():
            old, new = key(rows, _MODIFIED, turn), _new_key(rows, turn)
            yield Variant(
                f"UPDATE {relation} SET {attribute} = {new} WHERE {attribute} = {old}",
                1,
                undo=(f"UPDATE {relation} SET {attribute} = {old} WHERE {attribute} = {new}",),
                changes=relation,
            )

    return lambda rows: tuple(variants(rows))


def _new_key(rows: int, turn: int) -> int:
    """10001 at 10,000 tuples, in the first variant."""
    return rows + 1 + turn


_UNIQUE = (OTHER_KEY, KEY, "unique3")
_STRINGS = {
    Generation.Y1983: "A" + "x" * 25 + "A" + "x" * 24 + "A",
    Generation.Y1993: "A" * 7 + "x" * 45,
}


def appended(generation: Generation, relation: str, key: int) -> str:
    """Return the statement that appends a tuple, which by its key is outside every relation as it was loaded.

    Unique attributes have the key, and all others their range's first value."""
    values = (
        f"'{_STRINGS[generation]}'"
        if attribute.kind is Kind.STRING
        else str(key if attribute.name in _UNIQUE else 0)
        for attribute in attributes(generation)
    )
    return f"INSERT INTO {relation} VALUES ({', '.join(values)})"
