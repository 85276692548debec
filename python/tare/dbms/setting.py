"""Statements that give a setting of the session a value, in the syntax of each DBMS."""

from __future__ import annotations

import re

from tare.errors import UsageError

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_WORD = re.compile(r"-?\w+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SIZE = re.compile(r"(\d+)([KMGkmg])")
_SHIFTS = {"k": 10, "m": 20, "g": 30}


def set_statement(dbms: str, name: str, value: str) -> str:
    """Return the statement that sets `name` in a session. Raises UsageError for what is no setting's name."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not the name of a setting", "write NAME=VALUE, as in work_mem=64MB")
    quoted = "'" + value.replace("'", "''") + "'"
    if dbms == "postgresql":
        return f"SELECT set_config('{name}', {quoted}, false)"
    if dbms == "sqlite":
        return f"PRAGMA {name} = {value if _WORD.fullmatch(value) else quoted}"
    if dbms in ("mariadb", "mysql"):
        size = _SIZE.fullmatch(value)
        if size is not None:  # SET takes no suffix
            value = str(int(size[1]) << _SHIFTS[size[2].lower()])
        return f"SET SESSION {name} = {value if _NUMBER.fullmatch(value) else quoted}"
    return f"SET {name} = {quoted}"
