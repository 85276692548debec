"""Names of factors."""

from __future__ import annotations

from collections.abc import Callable

from tare.report.kit.names import Names, whole
from tare.report.profile.document import Factor


def factor_name(factor: Factor, names: Names, most: int) -> str:
    """At most so many characters, but at least 8 of each of its functions' names."""
    parts = [whole(one) for one in (*factor.names, *factor.beneath)]
    room = most - len(worded(factor, lambda _: ""))
    each = room
    if sum(map(len, parts)) > room:
        each = room // len(parts)
        spare = sum(max(0, each - len(one)) for one in parts)  # what short names leave to the others
        each += spare // sum(len(one) > each for one in parts)
    return worded(factor, lambda name: names.cut(name, max(8, each)))


def worded(factor: Factor, cut: Callable[[str], str]) -> str:
    """A factor by its names: both of a pair, a body as such, the callers that tell its path apart."""
    names = [cut(one) for one in factor.names]
    match factor.kind:
        case "pair":
            return " × ".join(names)
        case "waiting":
            return names[0].strip("[]")
    callers = f" beneath {' from '.join(map(cut, factor.beneath))}" if factor.beneath else ""
    body = "the body of " if factor.kind == "body" else ""
    return f"{body}{names[0]}{callers}{' on its other paths' if factor.others else ''}"
