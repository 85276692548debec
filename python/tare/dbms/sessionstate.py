"""Statements whose effect ends with the session, by their words: settings, attached files, temporary objects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tare.dbms.statement import first_word

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/|;|[^'"`$;/-]+|.""",
    re.DOTALL,
)
_SETTING = frozenset({"SET", "RESET", "PRAGMA", "ATTACH", "DETACH", "USE", "LOAD", "PREPARE", "DISCARD"})
_TEMPORARY = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:GLOBAL\s+|LOCAL\s+)?TEMP(?:ORARY)?\s+(?:\w+\s+)*?"
    r"(?:TABLE|VIEW|SEQUENCE|MACRO|FUNCTION|TRIGGER)\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`]?(?:\w+\.)?(\w+)",
    re.IGNORECASE,
)
_CALLED = re.compile(r"\bset_config\s*\(", re.IGNORECASE)
_NAMED = re.compile(
    r"\s*(?:SET\s+(?:SESSION\s+|GLOBAL\s+|@@(?:\w+\.)?)?|PRAGMA\s+(?:\w+\.)?)(\w[\w.]*)\s*(?:=|:=|\bTO\b)",
    re.IGNORECASE,
)
_SET_LOCAL = re.compile(r"\s*SET\s+LOCAL\b", re.IGNORECASE)


def statements(sql: str) -> list[str]:
    """The statements of a script, apart at semicolons outside of constants, names and comments."""
    parts = [""]
    for token in _TOKEN.finditer(sql):
        if token.group() == ";":
            parts.append("")
        else:
            parts[-1] += token.group()
    return [part.strip() for part in parts if first_word(part)]


def ending_with_session(texts: Iterable[str]) -> list[str]:
    """The statements that a new session needs again, in order: those that set something in it, those that make
    temporary objects, and those that name one of these."""
    kept: list[str] = []
    temporary: set[str] = set()
    for statement in (part for text in texts if not text.startswith("!") for part in statements(text)):
        made = _TEMPORARY.search(statement)
        if made:
            temporary.add(made.group(1).lower())
        words = {word.lower() for word in re.findall(r"\w+", statement)}
        if made or first_word(statement) in _SETTING or _CALLED.search(statement) or words & temporary:
            kept.append(statement)
    return kept


def setting_of(statement: str) -> str | None:
    """The setting that a statement sets, where its value can be read back by that name."""
    named = _NAMED.match(statement)
    return named.group(1) if named else None


def is_local(statement: str) -> bool:
    """PostgreSQL's SET LOCAL, which ends with its own transaction."""
    return _SET_LOCAL.match(statement) is not None
