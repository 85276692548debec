"""Next step for each SQLSTATE with which PostgreSQL, or a pooler before it, refuses a connection or a statement.

An entry is a whole SQLSTATE or its class, the first two characters; the whole one comes first.
"""

from __future__ import annotations

from collections.abc import Mapping

CONNECTION: Mapping[str, str] = {
    "28P01": "check user and password (in the URL, PGPASSWORD or ~/.pgpass)",
    "28000": "let this user and address in, in the server's pg_hba.conf; by `peer`, be the system's user of that name",
    "3D000": "check the database's name; `psql -l` lists the databases",
    "42501": "grant the role the right to connect: GRANT CONNECT ON DATABASE … TO …",
    "53300": "close other connections, or raise max_connections or the role's CONNECTION LIMIT",
    "55000": "connect to another database: this one takes no connections",
    "57P03": "wait until the server has started, then try again",
    "08P01": "read the log of the server, or of the pooler before it: it refused how the connection was started",
    "53": "free memory, disk or connections of the server",
    "57": "see whether the server is being stopped, then try again",
}

STATEMENT: Mapping[str, str] = {
    "42501": "grant the role the right that is missing (GRANT … TO …), or connect as another role",
    "42P01": "check the table's name, the database and search_path",
    "57014": "see who cancelled it: another session, or a statement_timeout that --setup set",
    "57": "see whether an administrator ended it; then run again",
    "26000": "connect to PostgreSQL itself: a pooler gave the session another backend",
    "40": "run again: another transaction was in the way",
    "55P03": "end the session that holds the lock, or raise lock_timeout",
    "53100": "free disk space of the server",
    "53": "free memory or connections of the server",
    "22": "correct the value that the server names",
    "23": "correct the row that the server names",
    "54": "make the statement smaller: it exceeds a limit of the server",
    "58": "read the server's log: a file or the system failed it",
    "XX": "read the server's log: it found itself at fault",
}
DEFAULT = "correct the statement, or the session's database and rights"


def next_step(table: Mapping[str, str], state: str, default: str) -> str:
    return table.get(state) or table.get(state[:2]) or default
