"""Opening a connection to a PostgreSQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tare.dbms.base import Adapter
from tare.dbms.postgresql.session import PostgreSQLSession
from tare.dbms.url import redacted, refuse_unescaped, scheme_of, scrubbed
from tare.errors import ConnectionFailed, TareError, UsageError

OLDEST = 120000  # server_version_num: EXPLAIN without costs of EXECUTE, worker titles, settings

# What libpq and the server say → what to do. The first that occurs in the message counts.
_ADVICE = (
    ("password authentication failed", "check user and password (in the URL, PGPASSWORD or ~/.pgpass)"),
    ("no password supplied", "give a password in the URL, PGPASSWORD or ~/.pgpass"),
    ("no pg_hba.conf entry", "let this user and address in, in the server's pg_hba.conf"),
    ("Peer authentication failed", "be the system's user of that name, or connect by host and password"),
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
        _, _, rest = url.partition("://")
        scheme_of(url)
        refuse_unescaped(url)
        try:
            parameters = conninfo_to_dict(f"postgresql://{rest}")
        except psycopg.Error:
            parameters = None
        if parameters is None:  # raised here, apart from the driver's exception: that repeats the URL
            raise UsageError(
                f"cannot read the database URL {redacted(url)}",
                "write it as postgresql://user:password@host:port/database?parameter=value, "
                "with %40 for an @ in a password",
            )
        password = str(parameters["password"]) if parameters.get("password") else None
        parameters["connect_timeout"] = max(2, math.ceil(timeout_s))  # libpq's least is 2 s
        parameters.setdefault("application_name", "tare")
        parameters.setdefault("client_encoding", "utf8")

        def opened() -> psycopg.Connection[tuple[object, ...]]:
            try:
                return psycopg.Connection.connect(make_conninfo("", **parameters), autocommit=True)
            except psycopg.Error as error:
                message = scrubbed(str(error).strip(), password)
            # Raised outside the handler: the driver's own exception may carry the password.
            raise ConnectionFailed(f"cannot connect to {redacted(url)}: {message}", _advice(message))

        session = PostgreSQLSession(
            opened,
            url=redacted(url),
            password=password,
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


def _advice(message: str) -> str:
    return next((advice for sign, advice in _ADVICE if sign in message), "check the URL and the server's log")
