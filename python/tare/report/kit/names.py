"""Names of functions, shortened to a width so that no two different ones read alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tare.report.safe import printable

_AROUND = 2  # letters shown before those that differ


def middle(text: object, most: int) -> str:
    """Return the text on one line of at most `most` columns, with an ellipsis in its middle if it is longer.

    The beginning of a long C++ name is its class, and its end is its method. A text that was cut at its end before, as
    an SQL statement is, is cut there again."""
    line = whole(text)
    if _columns(line) <= most:
        return line
    right = 0 if line.endswith("…") else (most - 1) // 2
    end = line[len(line) - right :]
    while _columns(end) > right:
        end = end[1:]
    begin = line[: most - 1]
    while _columns(begin) > most - 1 - _columns(end):
        begin = begin[:-1]
    return f"{begin}…{end}"


def _columns(text: str) -> int:
    """Columns in a terminal, and at least one for each character."""
    if text.isascii():
        return len(text)
    from rich.cells import get_character_cell_size  # most names are in ASCII

    return sum(max(1, get_character_cell_size(letter)) for letter in text)


def whole(text: object) -> str:
    """Return the text on one line, with nothing in it that could steer a terminal."""
    return " ".join(printable(text).split())


class Names:
    """Names of one list or tree. `every`: all of them; two that differ are shortened to texts that differ."""

    def __init__(self, every: Iterable[str]) -> None:
        self._every = list(dict.fromkeys(map(whole, every)))
        self._cut: dict[int, dict[str, str]] = {}

    def cut(self, name: str, most: int) -> str:
        """Return the name in at most `most` characters. A name that is not in the list is shortened by itself."""
        if most not in self._cut:
            self._cut[most] = dict(zip(self._every, _cut(self._every, most), strict=True))
        return self._cut[most].get(whole(name)) or middle(name, most)


def _cut(names: Sequence[str], most: int) -> list[str]:
    shortened = [middle(name, most) for name in names]
    for alike in _alike(shortened):
        prefix = _common([names[place] for place in alike])
        for place in alike:
            shortened[place] = _showing(names[place], prefix, most)
    for alike in _alike(shortened):
        for number, place in enumerate(alike[1:], start=2):
            mark = f" #{number}"
            shortened[place] = middle(names[place], most - len(mark)) + mark
    return shortened


def _common(names: Sequence[str]) -> int:
    """Number of letters with which all names begin."""
    first, last = min(names), max(names)  # what these two share, all that lie between them do
    return next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _alike(shortened: Sequence[str]) -> list[list[int]]:
    """Places of the texts that are equal, by text."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(shortened):
        places.setdefault(text, []).append(place)
    return [group for group in places.values() if len(group) > 1]


def _showing(name: str, place: int, most: int) -> str:
    """Beginning and end of the name, and between them the letters from `place` on, which tell it from the others."""
    ends = max(1, (most - 2) // 4)
    between = most - 2 * ends - 2
    begin = max(ends, place - _AROUND)
    end = begin + between
    if between < 1 or end >= len(name) - ends:
        return middle(name, most)
    return f"{name[:ends]}…{name[begin:end]}…{name[-ends:]}"
