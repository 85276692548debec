"""Names cut to the room there is, so that no two different ones read alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tare.report.profile import words
from tare.report.profile.document import Factor, ProfileReport

_AROUND = 2  # letters shown before those that differ


class Names:
    """`every`: all that stand in one list or tree."""

    def __init__(self, every: Iterable[str]) -> None:
        self._every = list(dict.fromkeys(map(whole, every)))
        self._cut: dict[int, dict[str, str]] = {}

    @classmethod
    def of(cls, report: ProfileReport) -> Names:
        """All of its nodes, factors and callers."""
        factors = [name for one in report.factors for name in (*one.names, *one.beneath)]
        return cls([*(one.name for one in report.nodes), *factors])

    def cut(self, name: str, most: int) -> str:
        """At most so many characters; a name that is not in the list is cut alone."""
        if most not in self._cut:
            self._cut[most] = dict(zip(self._every, _cut(self._every, most), strict=True))
        return self._cut[most].get(whole(name)) or words.middle(name, most)

    def factor(self, of: Factor, most: int) -> str:
        """At most so many characters, but at least 8 of each of its names."""
        parts = [whole(one) for one in (*of.names, *of.beneath)]
        room = most - len(worded(of, lambda _: ""))
        each = room
        if sum(map(len, parts)) > room:
            each = room // len(parts)
            spare = sum(max(0, each - len(one)) for one in parts)  # what short names leave to the others
            each += spare // sum(len(one) > each for one in parts)
        return worded(of, lambda name: self.cut(name, max(8, each)))


def worded(of: Factor, cut: Callable[[str], str]) -> str:
    """A factor by its names: both of a pair, a body as such, the callers that tell its path apart."""
    names = [cut(one) for one in of.names]
    match of.kind:
        case "pair":
            return " × ".join(names)
        case "waiting":
            return names[0].strip("[]")
    callers = f" beneath {' from '.join(map(cut, of.beneath))}" if of.beneath else ""
    body = "the body of " if of.kind == "body" else ""
    return f"{body}{names[0]}{callers}{' on its other paths' if of.others else ''}"


def whole(name: str) -> str:
    """On one line, printable."""
    return words.middle(name, len(name) + 1)


def _cut(names: Sequence[str], most: int) -> list[str]:
    found = [words.middle(one, most) for one in names]
    for alike in _alike(found):
        prefix = _common([names[one] for one in alike])
        for one in alike:
            found[one] = _showing(names[one], prefix, most)
    for alike in _alike(found):
        for number, one in enumerate(alike[1:], start=2):
            mark = f" #{number}"
            found[one] = words.middle(names[one], most - len(mark)) + mark
    return found


def _common(names: Sequence[str]) -> int:
    """Letters with which all of them begin."""
    first, last = min(names), max(names)  # what these two share, all that lie between them do
    return next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _alike(cut: Sequence[str]) -> list[list[int]]:
    places: dict[str, list[int]] = {}
    for place, one in enumerate(cut):
        places.setdefault(one, []).append(place)
    return [one for one in places.values() if len(one) > 1]


def _showing(name: str, place: int, most: int) -> str:
    """Beginning and end, and between them the letters from `place` on, by which it differs from its likes."""
    ends = max(1, (most - 2) // 4)
    between = most - 2 * ends - 2
    begin = max(ends, place - _AROUND)
    end = begin + between
    if between < 1 or end >= len(name) - ends:
        return words.middle(name, most)
    return f"{name[:ends]}…{name[begin:end]}…{name[-ends:]}"
