"""Names cut to the room there is, so that no two different ones read alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tare.report.safe import printable

_AROUND = 2  # letters shown before those that differ


def middle(text: object, most: int) -> str:
    """Cut in the middle, since a long C++ name has its class at one end and its method at the other."""
    plain = whole(text)
    if len(plain) <= most:
        return plain
    right = (most - 1) // 2
    return f"{plain[: most - 1 - right]}…{plain[len(plain) - right :]}"


def whole(text: object) -> str:
    """On one line, printable."""
    return " ".join(printable(text).split())


class Names:
    """`every`: all that stand in one list or tree."""

    def __init__(self, every: Iterable[str]) -> None:
        self._every = list(dict.fromkeys(map(whole, every)))
        self._cut: dict[int, dict[str, str]] = {}

    def cut(self, name: str, most: int) -> str:
        """At most so many characters; a name that is not in the list is cut alone."""
        if most not in self._cut:
            self._cut[most] = dict(zip(self._every, _cut(self._every, most), strict=True))
        return self._cut[most].get(whole(name)) or middle(name, most)


def _cut(names: Sequence[str], most: int) -> list[str]:
    found = [middle(one, most) for one in names]
    for alike in _alike(found):
        prefix = _common([names[one] for one in alike])
        for one in alike:
            found[one] = _showing(names[one], prefix, most)
    for alike in _alike(found):
        for number, one in enumerate(alike[1:], start=2):
            mark = f" #{number}"
            found[one] = middle(names[one], most - len(mark)) + mark
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
        return middle(name, most)
    return f"{name[:ends]}…{name[begin:end]}…{name[-ends:]}"
