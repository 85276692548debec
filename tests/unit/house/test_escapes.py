"""Characters are written as themselves or as \\uXXXX, not by their names.

The compiler imports `unicodedata` for the first name that it meets. Ctrl-C during that import becomes a SyntaxError
with a traceback, where a command should report that it was interrupted.
"""

from __future__ import annotations

from pathlib import Path

import tare

PACKAGE = Path(tare.__file__).parent
NAMED = "\\N{"


def test_no_character_is_written_by_its_name() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{number}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if NAMED in line
    ]
    assert not found, "write the character itself or \\uXXXX"
