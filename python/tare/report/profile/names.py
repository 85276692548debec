"""Names of a profile's factors."""

from __future__ import annotations

from collections.abc import Callable

from tare.report.kit.names import Names, whole
from tare.report.profile.document import Factor, ProfileReport


def report_names(report: ProfileReport) -> Names:
    """Return the names of all nodes, factors and callers of the report."""
    factors = [name for factor in report.factors for name in (*factor.names, *factor.beneath)]
    return Names([*(node.name for node in report.nodes), *factors])


def factor_name(factor: Factor, names: Names, most: int) -> str:
    """Return the factor's name in at most `most` characters, but with at least 8 of each of its functions' names."""
    parts = [whole(name) for name in (*factor.names, *factor.beneath)]
    room = most - len(worded(factor, lambda _: ""))
    each = room
    if sum(map(len, parts)) > room:
        each = room // len(parts)
        spare = sum(max(0, each - len(part)) for part in parts)  # what short names leave to the others
        each += spare // sum(len(part) > each for part in parts)
    return worded(factor, lambda name: names.cut(name, max(8, each)))


def worded(factor: Factor, cut: Callable[[str], str]) -> str:
    """A factor by its names: both of a pair, a body as such, the callers that tell its path apart."""
    names = [cut(name) for name in factor.names]
    match factor.kind:
        case "pair":
            return " × ".join(names)
        case "waiting":
            return names[0].strip("[]")
    callers = f" beneath {' from '.join(map(cut, factor.beneath))}" if factor.beneath else ""
    body = "the body of " if factor.kind == "body" else ""
    return f"{body}{names[0]}{callers}{' on its other paths' if factor.others else ''}"
