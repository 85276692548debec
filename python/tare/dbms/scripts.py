"""Scripts of PostgreSQL and MariaDB split into their statements by a tokenizer that knows each one's rules.

Needed for files of several statements, and where a script is run again in a further session and may change data: what
lasts is left out there. SQLite and DuckDB split their own scripts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import Token, TokenType, expressions
from sqlglot.errors import SqlglotError

from tare.dbms.statement import first_word
from tare.errors import WriteRefused

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

logging.getLogger("sqlglot").setLevel(logging.ERROR)

_TRANSACTION = frozenset({"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"})
_ENDS_OTHER = frozenset({"IF", "LOOP", "WHILE", "REPEAT"})  # END IF: no end of a block
_BLOCK = re.compile(r"\s*BEGIN\s+NOT\b", re.IGNORECASE)  # MariaDB's, which is no transaction
_SET_LOCAL = re.compile(r"\s*SET\s+LOCAL\b", re.IGNORECASE)
_OF_SESSION = "pg_temp"


def statements(sql: str, dialect: str) -> list[str]:
    """The statements of a script, apart at semicolons outside of constants, names, comments and blocks. `dialect` is
    "postgres" or "mysql". A script that cannot be read is one statement."""
    try:
        tokens = sqlglot.tokenize(sql, read=dialect)
    except SqlglotError:
        return [sql]
    parts, begin, depth, first = [], 0, 0, 0
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON and depth == 0:
            parts.append(sql[begin : token.start])
            begin, first = token.end + 1, at + 1
        else:
            depth = max(0, depth + _nesting(tokens, at, first))
    return [part.strip() for part in (*parts, sql[begin:]) if first_word(part)]


def _nesting(tokens: Sequence[Token], at: int, first: int) -> int:
    """Blocks that a token opens, less those it closes. `BEGIN` at the start of a statement begins a transaction, if
    it is not `BEGIN NOT ATOMIC`."""
    following = tokens[at + 1].text.upper() if at + 1 < len(tokens) else ""
    kind = tokens[at].token_type
    if kind is TokenType.BEGIN:
        return int(at > first or following == "NOT")
    if kind is TokenType.CASE:
        return int(at == 0 or tokens[at - 1].token_type is not TokenType.END)
    return -int(kind is TokenType.END and at > first and following not in _ENDS_OTHER)


def is_local(statement: str) -> bool:
    """PostgreSQL's SET LOCAL, which ends with its own transaction."""
    return _SET_LOCAL.match(statement) is not None


def repeat(sql: str, dialect: str, run: Callable[[str], None], set_read_only: Callable[[bool], None]) -> None:
    """Runs a script again in a further session, without what lasts: the statements that the server refuses in a
    read-only transaction, except those about temporary objects. Transactions are run as they are written."""
    temporary: set[str] = set()
    for statement in statements(sql, dialect):
        if first_word(statement) in _TRANSACTION and not _BLOCK.match(statement):
            run(statement)
            continue
        set_read_only(True)
        try:
            run(statement)
            lasts = True
        except WriteRefused:
            lasts = not _is_temporary(statement, dialect, temporary)
        finally:
            set_read_only(False)
        if not lasts:
            run(statement)


def _is_temporary(statement: str, dialect: str, temporary: set[str]) -> bool:
    """Whether a statement makes a temporary object, which is added to `temporary`, or changes one of these."""
    try:
        parsed = sqlglot.parse_one(statement, read=dialect)
    except SqlglotError:
        return False
    target = _target(parsed)
    if target is None:
        return False
    name = target.name.lower()
    into = parsed.args.get("into")
    if (
        parsed.find(expressions.TemporaryProperty)
        or (into and into.args.get("temporary"))
        or target.db.lower() == _OF_SESSION
    ):
        temporary.add(name)
    return name in temporary and target.db.lower() in ("", _OF_SESSION)


def _target(parsed: Expr) -> expressions.Table | None:
    """The table, view or other object that a statement makes or changes."""
    if isinstance(parsed, expressions.Select):
        into = parsed.args.get("into")
        return into.find(expressions.Table) if into else None
    if not isinstance(parsed.this, (str, type(None))):
        parsed = parsed.this
    return parsed.find(expressions.Table)
