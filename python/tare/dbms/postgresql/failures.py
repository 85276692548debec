"""PostgreSQL's failures by SQLSTATE: the next step for each, and the error that Tare raises.

A code decides, else its class (the first two characters); never the words of a message, which the server translates.
Source: PostgreSQL's documentation, appendix A (Error Codes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg.pq import DiagnosticField
from psycopg.pq.abc import PGresult

from tare.dbms.url import scrubbed
from tare.errors import ServerLost, StatementFailed, TareError, WriteRefused, several_statements

CANCELLED = "57014"
READ_ONLY = "25006"

LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
"""Codes with which the server ends a session, beside all of class 08."""

_AGAIN = "put the data back between runs: after each one with --conclude, or before it with --prepare"
_MADE = 'each run makes it again: remove it after each run with --conclude "DROP …"'
_TABLES = "check the name, the database of --db and the search_path (SET it in --setup); \\d in psql lists the tables"

STATEMENTS: Mapping[str, str] = {
    "22": "correct the expression, or the data that it meets",
    "23": _AGAIN,
    "26000": "connect to the server itself: a pooler has given the session to another client",
    "28": "connect as another user, or SET ROLE to another role in --setup",
    "34": "keep the cursor's transaction open within one statement of --setup",
    "40001": "run it while no other transaction changes the same rows; on a standby raise max_standby_streaming_delay",
    "40P01": "run it while no other transaction locks the same tables",
    "42501": "connect as a user with that right, GRANT it, or SET ROLE to one who has it in --setup",
    "42601": "correct the SQL at that place",
    "42703": "check the column's name; \\d TABLE in psql lists the columns of a table",
    "42883": "check the name and the types of the arguments (\\df in psql), and the search_path",
    "42P01": _TABLES,
    "3F000": _TABLES,
    "42P06": _MADE,
    "42P07": _MADE,
    "42710": _MADE,
    "42723": _MADE,
    "42": "correct the statement",
    "53100": "make room on the server's disk; sorts and hashes need less of it with a larger work_mem (--setup)",
    "53200": "free memory on the server, or lower work_mem and hash_mem_multiplier in --setup",
    "53300": "close other connections, or raise max_connections",
    "53400": "raise temp_file_limit for this user, or work_mem in --setup",
    "54": "simplify the statement",
    "55P03": 'end the transaction that holds the lock, or wait longer with --setup "SET lock_timeout = 0"',
    "55006": "end the sessions that use it",
    CANCELLED: "find out who cancels it: pg_cancel_backend() in another session, or a statement_timeout that the "
    "statement or --setup sets",
    "58": "look at the end of the server's log and at its disk",
    "P0": "see the function or trigger that raises it",
    "XX": "look at the end of the server's log",
}
"""Next step for a statement, by SQLSTATE or its class."""

_ELSE = "correct the statement; appendix A of PostgreSQL's documentation explains its code"

_LOST_NEXT: Mapping[str, str] = {
    "57P01": "see who stops the server or ends the session (pg_terminate_backend), then run again",
    "57P03": "wait until the server has started, then run again",
    "57P05": 'let the session rest: --setup "SET idle_session_timeout = 0"',
    "25P03": 'let the session rest: --setup "SET idle_in_transaction_session_timeout = 0"',
    "25P04": 'allow a longer transaction: --setup "SET transaction_timeout = 0"',
}
_LOST_ELSE = "look at the end of the server's log; samples taken so far are kept"

_FINAL = frozenset({"0A", "22", "23", "26", "42"})
"""Classes of failures that a second execution of the same statement meets again."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The fields of an error that the server sent. `position` counts characters from 1; None: no place."""

    state: str
    message: str
    detail: str
    hint: str
    position: int | None
    source: str  # the function of the server that raised it


def diagnosis(result: PGresult, password: str | None) -> Diagnosis:
    """Read the error of a failed result, without the password."""

    def field(which: DiagnosticField) -> str:
        return scrubbed((result.error_field(which) or b"").decode(errors="replace").strip(), password)

    message = field(DiagnosticField.MESSAGE_PRIMARY)
    if not message:
        message = scrubbed(result.error_message.decode(errors="replace").strip(), password)
    detail, context = field(DiagnosticField.MESSAGE_DETAIL), field(DiagnosticField.CONTEXT)
    if context.startswith("COPY "):  # the line
        detail = f"{detail}; {context}" if detail else context
    position = field(DiagnosticField.STATEMENT_POSITION)
    return Diagnosis(
        state=field(DiagnosticField.SQLSTATE),
        message=message,
        detail=detail,
        hint=field(DiagnosticField.MESSAGE_HINT),
        position=int(position) if position.isdecimal() else None,
        source=field(DiagnosticField.SOURCE_FUNCTION),
    )


def of_statement(found: Diagnosis, *, allow_writes: bool) -> TareError:
    """Return the error for a statement that the server refused or could not finish."""
    if found.state == READ_ONLY:
        return WriteRefused(
            f"the statement would change data: {found.message}",
            "connect to the primary if this is a standby, else SET default_transaction_read_only = off in --setup"
            if allow_writes
            else "give --allow-writes if it is meant to",
            code=found.state,
        )
    if found.state == "42601" and found.source == "exec_parse_message":
        return several_statements(found.state)  # the one syntax error that is not the parser's own
    did = "was cancelled by another session or a setting" if found.state == CANCELLED else "refused"
    what = f"PostgreSQL {did} the statement: " if did == "refused" else f"the statement {did}: "
    return StatementFailed(
        f"{what}{found.message}{f' ({found.detail})' if found.detail else ''} [{found.state}]",
        _with_hint(found.hint, next_step(STATEMENTS, found.state, _ELSE)),
        code=found.state,
        offset=None if found.position is None else found.position - 1,
        may_pass=found.state[:2] not in _FINAL,
    )


def of_lost(how: str, state: str = "") -> ServerLost:
    """Return the error for a connection that ended."""
    return ServerLost(
        f"the connection to the PostgreSQL server was lost: {how}",
        _LOST_NEXT.get(state, _LOST_ELSE),
        code=state,
    )


def next_step(steps: Mapping[str, str], state: str, otherwise: str) -> str:
    """Return the step for a code, else for its class."""
    return steps.get(state) or steps.get(state[:2]) or otherwise


def _with_hint(hint: str, step: str) -> str:
    """The server's own hint first: it knows more of this statement."""
    return f"{hint.removesuffix('.')}; else {step}" if hint else step
