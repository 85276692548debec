"""Opening a connection to a PostgreSQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from tare.dbms.base import Adapter
from tare.dbms.conninfo import connection_parameters, secrets_of
from tare.dbms.postgresql.session import PostgreSQLSession
from tare.dbms.url import redacted, refuse_unescaped, scrubbed
from tare.errors import ConnectionFailed, TareError

OLDEST = 120000  # server_version_num: EXPLAIN without costs of EXECUTE, worker titles, settings

# What libpq and the server say → what to do. The first that occurs in the message counts.
_ADVICE = (
    ("password authentication failed", "check user and password (in the URL, PGPASSWORD or ~/.pgpass)"),
    ("no password supplied", "give a password in the URL, PGPASSWORD or ~/.pgpass"),
    ("no pg_hba.conf entry", "let this user and address in, in the server's pg_hba.conf"),
    ("Peer authentication failed", "be the system's user of that name, or connect by host and password"),
    ("definition of service", "name a service of ~/.pg_service.conf or PGSERVICEFILE"),
    ("Connection refused", "start the server (`tare server start postgresql`), or check host and port"),
    ("No such file or directory", "start the server, or check the socket's directory (host=…) and port"),
    ("timeout expired", "check host, port and firewall, or allow a longer connection time-out"),
    ("could not translate host name", "check the host's name"),
    ("failed to resolve host", "check the host's name"),
    ("does not exist", "check the names of database and user; `psql -l` lists the databases"),
    ("too many clients", "close other connections or raise max_connections"),
    ("starting up", "wait until the server has started, then try again"),
)


class PostgreSQL(Adapter):
    name = "postgresql"
    schemes = ("postgresql", "postgres")

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> PostgreSQLSession:
        parameters = _parameters(url, timeout_s)
        session = PostgreSQLSession(
            lambda: _opened(url, parameters),
            url=redacted(url),
            password=parameters.get("password"),
            allow_writes=allow_writes,
            allow_restart=allow_restart,
        )
        try:
            if session.version_number < OLDEST:
                raise ConnectionFailed(
                    f"{redacted(url)} is PostgreSQL {session.server.version}", "use version 12 or later"
                )
        except TareError:
            session.close()
            raise
        return session


def connection(url: str, timeout_s: float = 10.0) -> psycopg.Connection[tuple[object, ...]]:
    """Raises UsageError and ConnectionFailed, which show no secret."""
    return _opened(url, _parameters(url, timeout_s))


def _parameters(url: str, timeout_s: float) -> dict[str, Any]:
    refuse_unescaped(url)
    parameters: dict[str, Any] = dict(connection_parameters(url))
    parameters["connect_timeout"] = max(2, math.ceil(timeout_s))  # libpq's least is 2 s
    parameters.setdefault("application_name", "tare")
    parameters.setdefault("client_encoding", "utf8")
    return parameters


def _opened(url: str, parameters: dict[str, Any]) -> psycopg.Connection[tuple[object, ...]]:
    try:
        return psycopg.Connection.connect(make_conninfo("", **parameters), autocommit=True)
    except psycopg.Error as error:
        message = scrubbed(str(error).strip(), *secrets_of(url))
    # Raised outside the handler: the driver's own exception may carry the password.
    raise ConnectionFailed(f"cannot connect to {redacted(url)}: {message}", _advice(message))


def _advice(message: str) -> str:
    return next((advice for sign, advice in _ADVICE if sign in message), "check the URL and the server's log")
