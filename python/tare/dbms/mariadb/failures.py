"""Failures of MariaDB and MySQL by error number: the next step for each, and the error that Tare raises.

The number decides, never the words of a message, which the server translates. Sources: MariaDB's "Error Codes", MySQL's
"Server Error Message Reference" and "Client Error Message Reference".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tare.errors import ServerLost, StatementFailed, TareError, WriteRefused, several_statements

LOST = frozenset({2006, 2013, 2055, 1053, 1077, 1079, 1927})
TIMED_OUT = frozenset({1969, 3024})  # max_statement_time, max_execution_time
TOO_MANY = 1040
ACCESS_DENIED = 1045
TLS_FAILED = 2026

_INTERRUPTED = 1317
_READ_ONLY = frozenset({1792, 1290, 1836})
_SYNTAX = 1064
_CUT = "..."  # MariaDB's mark behind a long text; MySQL has none
_ENOUGH = 60  # characters of a text that was cut at 80
_NEAR = re.compile(r"'(.*)'\D*(\d+)$", re.DOTALL)  # in any language: the text, then the number of its line

_AGAIN = "put the data back between runs: after each one with --conclude, or before it with --prepare"
_MADE = 'each run makes it again: remove it after each run with --conclude "DROP …"'
_RIGHT = "connect as a user with that right, or GRANT it (SHOW GRANTS lists those of a user)"
_MEMORY = "free memory on the server, or lower its buffers (join_buffer_size, sort_buffer_size in --setup)"
_DISK = "make room on the server's disk, also in its tmpdir"

_LIMIT = "raise max_statement_time (MySQL: max_execution_time) where it is set: by the statement, or for its account"

STATEMENTS: Mapping[int, str] = {
    1064: "correct the SQL at that place",
    1046: "name the database in the URL: --db mariadb://…/DATABASE",
    1049: "check the database's name; SHOW DATABASES lists them",
    1146: "check the table's name, and the database of --db; SHOW TABLES lists its tables",
    1054: "check the column's name; DESCRIBE TABLE lists the columns of a table",
    1305: "check the function's name and its database; SHOW FUNCTION STATUS lists them",
    1044: _RIGHT,
    1142: _RIGHT,
    1143: _RIGHT,
    1227: _RIGHT,
    1370: _RIGHT,
    1062: _AGAIN,
    1169: _AGAIN,
    1451: _AGAIN,
    1452: _AGAIN,
    1048: _AGAIN,
    4025: _AGAIN,
    1007: _MADE,
    1050: _MADE,
    1061: _MADE,
    1304: _MADE,
    1021: _DISK,
    1026: _DISK,
    1114: f"{_DISK}; for a MEMORY table raise max_heap_table_size",
    1037: _MEMORY,
    1038: _MEMORY,
    1041: _MEMORY,
    1153: "raise max_allowed_packet on the server, or shorten the statement",
    1203: "close other connections of this user, or raise max_user_connections",
    1205: 'end the transaction that holds the lock, or wait longer with --setup "SET innodb_lock_wait_timeout = …"',
    1213: "run it while no other transaction locks the same rows",
    1226: "raise this user's limit (ALTER USER … WITH …), or wait until the hour is over",
    1235: "rewrite the statement: this server has no such feature",
    1295: "weigh a statement that this server can prepare; give this one in --setup or --prepare",
    1969: _LIMIT,
    3024: _LIMIT,
    _INTERRUPTED: "find out who ends it: KILL QUERY in another session",
}
"""Next step for a statement, by error number."""

_ELSE = "correct the statement; the server's documentation explains its error number"

TLS_NEEDED = "add ?ssl=true to the URL: the server admits this user with TLS only"

_PLUGIN = (
    "name the folder of libmariadb's client plugins (client_ed25519.so, …) in the URL: ?plugin_dir=/FOLDER; "
    "or give the user another plugin (IDENTIFIED VIA)"
)

CONNECTIONS: Mapping[int, str] = {
    1044: "give the user a right to this database, or name another",
    ACCESS_DENIED: "check the user and the password in the URL; where a client plugin (client_ed25519) could not be "
    "loaded, name the folder of libmariadb's plugins: ?plugin_dir=/FOLDER",
    1049: "check the database's name; SHOW DATABASES lists them",
    TOO_MANY: "close other connections, or raise max_connections: SET GLOBAL max_connections = …",
    1053: "wait until the server has stopped or started, then try again",
    1129: "mysqladmin flush-hosts lets this host in again",
    1130: "CREATE USER …@'HOST' for the address that you connect from",
    1203: STATEMENTS[1203],
    1226: STATEMENTS[1226],
    1251: "give the user another plugin (IDENTIFIED VIA), or install a newer client library",
    1524: "install the plugin on the server (INSTALL SONAME), or give the user another one (IDENTIFIED VIA)",
    1698: "connect as the operating system's user of that name, or with a user that has a password",
    2002: "start the server, or check host, port and socket; `tare server start mariadb` gives one",
    2003: "start the server, or check host and port; `tare server start mariadb` gives one",
    2005: "check the host's name",
    2013: "check host, port and firewall, or allow a longer connection time-out",
    TLS_FAILED: "check ssl_ca, ssl_cert and ssl_key of the URL and the server's certificate, or leave ?ssl=true out",
    2058: _PLUGIN,
    2059: _PLUGIN,
    3159: TLS_NEEDED,
    4151: "unlock the account: ALTER USER … ACCOUNT UNLOCK",
}
"""Next step for a refused connection, by error number."""
CONNECTION_ELSE = "check the URL and the server's log"

_FINAL = frozenset({1048, 1054, 1062, 1146, 1169, 1305, 1451, 1452, 4025, _SYNTAX, *(
    number for number, step in STATEMENTS.items() if step in (_MADE, _RIGHT)
)})  # fmt: skip
"""Failures that a second execution of the same statement meets again."""


def of_statement(message: str, number: int, sql: str, *, allow_writes: bool) -> TareError:
    """Return the error for a statement that the server refused or could not finish. `sql`: the user's, or empty."""
    if number in _READ_ONLY:
        return WriteRefused(
            f"the statement would change data: {message}",
            "the server itself takes no changes (read_only): connect to the primary, or SET GLOBAL read_only = OFF"
            if allow_writes
            else "give --allow-writes if it is meant to",
            code=str(number),
        )
    offset = _offset(message, sql) if number == _SYNTAX else None
    if offset is not None and offset < len(sql.rstrip()) and sql[:offset].rstrip().endswith(";"):
        return several_statements(str(number))
    who = (
        "another session ended the statement"
        if number == _INTERRUPTED
        else "the server refused the statement"
    )
    return StatementFailed(
        f"{who}: {message} [{number}]",
        STATEMENTS.get(number, _ELSE),
        code=str(number),
        offset=offset,
        may_pass=number not in _FINAL,
    )


def of_lost(how: str) -> ServerLost:
    """Return the error for a connection that ended."""
    return ServerLost(
        f"the connection to the server was lost: {how}",
        "look at the end of the server's log; samples taken so far are kept",
    )


def _offset(message: str, sql: str) -> int | None:
    """Characters before the mistake: the server shows the text from there on. None if it shows none of it."""
    near = _NEAR.search(message)
    if near is None or not sql:
        return None
    text = near.group(1)
    rest = sql.rstrip()
    if rest.endswith(text.rstrip()):
        return len(rest) - len(text.rstrip())
    text = text.removesuffix(_CUT)
    begin = 0
    for _ in range(int(near.group(2)) - 1):
        begin = sql.find("\n", begin) + 1
    found = sql.find(text, begin) if len(text) >= _ENOUGH else -1
    return None if found < 0 else found
