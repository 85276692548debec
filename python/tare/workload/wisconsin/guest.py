"""The tuple that the update queries append: by its key, outside every relation as it was loaded."""

from __future__ import annotations

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relation import Kind
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, attributes

_UNIQUE = (OTHER_KEY, KEY, "unique3")
_STRINGS = {
    Generation.Y1983: "A" + "x" * 25 + "A" + "x" * 24 + "A",
    Generation.Y1993: "A" * 7 + "x" * 45,
}


def appended(generation: Generation, relation: str, key: int) -> str:
    """The statement. Unique attributes have the key, and all others their range's first value."""
    values = (
        f"'{_STRINGS[generation]}'"
        if attribute.kind is Kind.STRING
        else str(key if attribute.name in _UNIQUE else 0)
        for attribute in attributes(generation)
    )
    return f"INSERT INTO {relation} VALUES ({', '.join(values)})"
