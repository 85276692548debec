"""Place of a statement from the user: file, line and column, and the line with a mark under the place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from tare.dbms.redaction import redacted_text

WIDEST = 74  # cells of a line that is shown


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a statement in a file, before parameters are filled in. It begins at `line` and `column`, from 1."""

    file: str
    text: str
    line: int = 1
    column: int = 1

    def place(self, offset: int) -> str:
        """FILE:LINE:COLUMN of the character at `offset` in the text."""
        line, column = line_and_column(self.text, offset)
        return f"{self.file}:{self.line + line - 1}:{column + (self.column - 1 if line == 1 else 0)}"


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both from 1, counted in characters."""
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def offset_in_template(template: str, parameters: Mapping[str, str], offset: int) -> int:
    """The place in a text with {placeholders} for the one at `offset` in the text in which they are filled in.

    A place within a value is that of its placeholder."""
    names = "|".join(map(re.escape, parameters))
    ahead = 0  # characters of the filled-in text up to here, less those of the template
    for found in re.finditer(rf"\{{({names})\}}", template) if names else ():
        begin = found.start() + ahead
        value = parameters[found[1]]
        if offset < begin:
            break
        if offset < begin + len(value):
            return found.start()
        ahead += len(value) - len(found[0])
    return offset - ahead


def excerpt(text: str, offset: int) -> str:
    """The line of the character at `offset`, and a caret under it; empty where a password may stand in that line."""
    offset = min(offset, len(text.rstrip()))
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : len(text) if end < 0 else end].rstrip()
    if redacted_text(line) != line:
        return ""
    shown = "".join(character if character.isprintable() else " " for character in line)
    at = offset - begin
    if _cells(shown) > WIDEST and at > WIDEST // 2:
        cut = at - WIDEST // 4
        shown, at = f"…{shown[cut:]}", at - cut + 1
    if _cells(shown) > WIDEST:
        shown = shown[:WIDEST]
        while _cells(shown) >= WIDEST:
            shown = shown[:-1]
        shown += "…"
    return f"  {shown}\n  {' ' * _cells(shown[:at])}^"


def _cells(text: str) -> int:
    """Columns of a terminal that the text takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )
