"""Data made fit for a page: names cut to a length, JSON that cannot end its script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tare.dbms.url import redacted

MOST_NAME = 120  # characters of a name in a table, a chart or a list

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F])
_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)])


def printable(text: object) -> str:
    """Without control characters, marks that turn the direction of what follows, and lone surrogates."""
    plain = str(text).replace("\r\n", "\n").translate({**_BIDI, **_CONTROLS})
    return plain.encode("utf-8", "replace").decode("utf-8")


def short(text: object, most: int = MOST_NAME) -> str:
    """Cut, with an ellipsis."""
    plain = printable(text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def lab_name(where: str) -> str:
    """A lab as a report names it: without its password and its folders, for a report travels."""
    if "://" in where:
        return redacted(where)
    return Path(where).resolve().name + ("/" if Path(where).is_dir() else "")


def strings(value: Any, change: Callable[[object], str]) -> Any:
    """The same with every string in it changed, but keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: strings(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [strings(one, change) for one in value]
    return value


def script_json(value: object) -> str:
    """Compact JSON that can stand within a script element, whatever strings are in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")
