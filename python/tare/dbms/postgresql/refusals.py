"""Why a PostgreSQL server refused a connection, by SQLSTATE, and the next step.

libpq keeps the SQLSTATE of a refusal to itself, and its messages are translated. A second attempt asks libpq for codes
in place of messages; a third finds out whether the server admits this user with TLS only.
"""

from __future__ import annotations

import ctypes
import re
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, PollingStatus

from tare.dbms.postgresql.failures import next_step

TLS_NEEDED = "add ?sslmode=require to the URL: the server admits this user with TLS only"
NO_TLS = "check sslmode, sslrootcert and the server's certificate: without TLS the server answers"
TOO_MANY = "53300"

STEPS: Mapping[str, str] = {
    "08": "look at the log of the server, or of the pooler in front of it, for the reason",
    "28P01": "check user and password (in the URL, PGPASSWORD or ~/.pgpass)",
    "28": "check the user's name, and let user, address and database in with a line of the server's pg_hba.conf; "
    "a peer line needs the system's user of that name, a hostssl line ?sslmode=require",
    "3D000": "check the database's name in the URL; `psql -l` lists the databases",
    "42501": "GRANT CONNECT ON DATABASE to this user, or name another database in the URL",
    TOO_MANY: "close other connections, or raise max_connections (or the CONNECTION LIMIT of the role or database)",
    "57P03": "wait until the server has started, recovered or stopped, then try again",
    "57P05": "try again",
    "0A000": "connect to the server itself if a pooler stands in front of it: it knows not every parameter",
}
_ELSE = "look at the end of the server's log"
_NO_PASSWORD = "give a password in the URL, PGPASSWORD or ~/.pgpass"
_TOO_LATE = "check host, port and firewall, or allow a longer --connect-timeout"
_NO_SERVICE = "name a service of ~/.pg_service.conf or PGSERVICEFILE, and see that its host and port answer"
_NO_SERVER = (
    "start the server (`tare server start postgresql`), or check host, port and the socket's directory "
    "(?host=/DIRECTORY)"
)

_SQLSTATE_ONLY = 3  # PQERRORS_SQLSTATE
_CODE = re.compile(r":\s+([0-9A-Z]{5})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Answer to an attempt: `code` is empty where no server answered, or where it admitted us."""

    code: str
    admitted: bool
    needs_password: bool


def advice(error: psycopg.Error, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return the SQLSTATE of a refused connection, empty if there is none, and the next step."""
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return "", _TOO_LATE
    found = attempt(parameters)
    if found.needs_password:
        return found.code, _NO_PASSWORD
    if found.code.startswith("28") and found.code != "28P01":
        other = attempt({**parameters, "sslmode": "require"})
        if other.admitted or (other.code and other.code != found.code):
            return found.code, TLS_NEEDED
    if found.code:
        return found.code, next_step(STEPS, found.code, _ELSE)
    if parameters.get("sslmode", "prefer") not in ("disable", "allow", "prefer"):
        other = attempt({**parameters, "sslmode": "disable"})
        if other.admitted or other.code:
            return "", NO_TLS
    return "", _NO_SERVICE if "service" in parameters else _NO_SERVER


def attempt(parameters: Mapping[str, Any]) -> Refusal:
    """Connect once more for the code of the refusal, as long as `connect_timeout` allows."""
    deadline = time.monotonic() + float(parameters.get("connect_timeout", 10))
    connection = PGconn.connect_start(make_conninfo("", **parameters).encode())
    try:
        _set_verbosity(connection)
        status = PollingStatus.WRITING
        while status in (PollingStatus.READING, PollingStatus.WRITING):
            if not _ready(connection.socket, status, deadline):
                break
            status = PollingStatus(connection.connect_poll())
        codes = _CODE.findall(connection.error_message.decode(errors="replace"))
        return Refusal(_foremost(codes), status == PollingStatus.OK, connection.needs_password)
    except psycopg.Error:
        return Refusal("", admitted=False, needs_password=False)
    finally:
        connection.finish()


def _foremost(codes: Sequence[str]) -> str:
    """With and without TLS, one host after another: what came nearest to a session counts."""
    return next((code for code in codes if code != "28000"), codes[-1] if codes else "")


def _ready(descriptor: int, status: PollingStatus, deadline: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN if status == PollingStatus.READING else select.POLLOUT)
    return bool(poller.poll(max(0.0, deadline - time.monotonic()) * 1000))


def _set_verbosity(connection: Any) -> None:
    """psycopg has no name for it. The module that binds libpq leads to the very library."""
    kind = psycopg.pq.__impl__
    module: Any = import_module("psycopg.pq._pq_ctypes" if kind == "python" else f"psycopg_{kind}.pq")
    library = module.pq if kind == "python" else ctypes.CDLL(module.__file__)
    library.PQsetErrorVerbosity(ctypes.c_void_p(connection.pgconn_ptr), ctypes.c_int(_SQLSTATE_ONLY))
