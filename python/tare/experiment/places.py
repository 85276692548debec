"""Places of the keys and values of a TOML text: line and column, from 1.

`tomllib` says what a text holds but not where. This walk assumes that `tomllib` has accepted the
text, so it only has to find the ends of things, not to judge them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
"""Keys, and numbers of array elements from 0, as pydantic has them."""

_BARE_ENDS = frozenset(" \t\n,]}#")
_DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:")  # the one bare value with a blank in it


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Places:
    """Places of the keys (or, for an array's elements, the values) of a TOML text."""

    def __init__(self, text: str) -> None:
        self._found = _Walk(text.replace("\r\n", "\n")).found

    def __contains__(self, path: Path) -> bool:
        return path in self._found

    def paths(self) -> set[Path]:
        return set(self._found)

    def of(self, path: Path) -> Place:
        """Return the place of this, or else of the nearest thing around it, for what is missing."""
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, Place(1, 1))


@dataclass
class _Walk:
    text: str
    at: int = 0
    found: dict[Path, Place] = field(default_factory=dict)
    arrays: dict[Path, int] = field(default_factory=dict)  # elements of each [[array]] so far

    def __post_init__(self) -> None:
        self._starts = [0]
        self._starts += [i + 1 for i, character in enumerate(self.text) if character == "\n"]
        table: Path = ()
        while self._blank(newlines=True):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    # What stands on a line -------------------------------------------------
    def _header(self) -> Path:
        place, double = self._place(), self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        *before, last = self._key()
        self.at += 2 if double else 1
        path: Path = ()
        for part in before:  # within an array of tables, the header means its last element
            path = self._into((*path, part), place)
        path = (*path, last)
        self.found.setdefault(path, place)
        if double:
            number = self.arrays.get(path, 0)
            self.arrays[path] = number + 1
            path = (*path, number)
            self.found[path] = place
        return path

    def _into(self, path: Path, place: Place) -> Path:
        self.found.setdefault(path, place)
        return (*path, self.arrays[path] - 1) if path in self.arrays else path

    def _pair(self, table: Path) -> None:
        place = self._place()
        path = table
        for part in self._key():
            path = (*path, part)
            self.found.setdefault(path, place)
        self._skip("=")
        self._value(path)

    # Keys and values -------------------------------------------------------
    def _key(self) -> list[str]:
        """A dotted key, up to what follows it."""
        parts = []
        while True:
            self._blank()
            start = self.at
            if self.text[start] in "\"'":
                self._string()
                parts.append(str(tomllib.loads(f"k = {self.text[start : self.at]}")["k"]))
            else:
                while self.text[self.at] not in " \t.=]":
                    self.at += 1
                parts.append(self.text[start : self.at])
            self._blank()
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        self._blank()
        match self.text[self.at]:
            case '"' | "'":
                self._string()
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case _:
                if _DATE_AND_TIME.match(self.text, self.at):
                    self.at += len("1979-05-27 ")
                while self.at < len(self.text) and self.text[self.at] not in _BARE_ENDS:
                    self.at += 1

    def _array(self, path: Path) -> None:
        self.at += 1
        number = 0
        while self._blank(newlines=True) and self.text[self.at] != "]":
            self.found[*path, number] = self._place()
            self._value((*path, number))
            number += 1
            self._blank(newlines=True)
            self._skip(",")
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._blank(newlines=True) and self.text[self.at] != "}":
            self._pair(path)
            self._blank(newlines=True)
            self._skip(",")
        self.at += 1

    def _string(self) -> None:
        mark = self.text[self.at]
        if self.text.startswith(mark * 3, self.at):
            self.at += 3
            self._until(mark * 3, escapes=mark == '"')
            while self.at < len(self.text) and self.text[self.at] == mark:  # up to two more belong to it
                self.at += 1
        else:
            self.at += 1
            self._until(mark, escapes=mark == '"')

    def _until(self, end: str, *, escapes: bool) -> None:
        while not self.text.startswith(end, self.at):
            self.at += 2 if escapes and self.text[self.at] == "\\" else 1
        self.at += len(end)

    # --------------------------------------------------------------------
    def _blank(self, newlines: bool = False) -> bool:
        """Past white space, and with `newlines` past comments too; False at the end of the text."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t" or (newlines and character == "\n"):
                self.at += 1
            elif newlines and character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _skip(self, character: str) -> None:
        self._blank()
        if self.text.startswith(character, self.at):
            self.at += 1

    def _place(self) -> Place:
        line = bisect_right(self._starts, self.at)
        return Place(line, self.at - self._starts[line - 1] + 1)
