"""Statements whose effect ends with the session, by their words: settings, attached files, temporary objects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tare.dbms.statement import first_word
from tare.errors import UsageError

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

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_WORD = re.compile(r"-?\w+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SIZE = re.compile(r"(\d+)([kmgKMG])")
_SHIFTS = {"k": 10, "m": 20, "g": 30}  # as MariaDB's configuration file has them


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


def set_statement(dbms: str, name: str, value: str) -> str:
    """The statement that gives a setting of the session a value. Raises UsageError for what is no setting's name."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name} is not the name of a setting", "write NAME=VALUE, as in work_mem=64MB")
    quoted = "'" + value.replace("'", "''") + "'"
    if dbms == "postgresql":
        return f"SELECT set_config('{name}', {quoted}, false)"
    if dbms == "sqlite":
        return f"PRAGMA {name} = {value if _WORD.fullmatch(value) else quoted}"
    if dbms in ("mariadb", "mysql"):
        size = _SIZE.fullmatch(value)
        if size is not None:
            value = str(int(size[1]) << _SHIFTS[size[2].lower()])
        return f"SET SESSION {name} = {value if _NUMBER.fullmatch(value) else quoted}"
    return f"SET {name} = {quoted}"


def is_local(statement: str) -> bool:
    """PostgreSQL's SET LOCAL, which ends with its own transaction."""
    return _SET_LOCAL.match(statement) is not None
