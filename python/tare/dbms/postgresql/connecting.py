"""Opening a connection to a PostgreSQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from tare.dbms.conninfo import connection_parameters, secrets_of
from tare.dbms.postgresql import refusals
from tare.dbms.url import redacted, refuse_unescaped, scrubbed
from tare.errors import ConnectionFailed


def connection(url: str, timeout_s: float = 10.0) -> psycopg.Connection[tuple[object, ...]]:
    """Raises UsageError and ConnectionFailed, which show no secret."""
    return opened(url, parameters_of(url, timeout_s))


def parameters_of(url: str, timeout_s: float) -> dict[str, Any]:
    refuse_unescaped(url)
    parameters: dict[str, Any] = dict(connection_parameters(url))
    parameters["connect_timeout"] = max(2, math.ceil(timeout_s))  # libpq's least is 2 s
    parameters.setdefault("application_name", "tare")
    parameters.setdefault("client_encoding", "utf8")
    return parameters


def opened(url: str, parameters: dict[str, Any]) -> psycopg.Connection[tuple[object, ...]]:
    try:
        return psycopg.Connection.connect(make_conninfo("", **parameters), autocommit=True)
    except psycopg.Error as error:
        message = scrubbed(str(error).strip(), *secrets_of(url))
        code, next_step = refusals.advice(error, parameters)
    # Raised outside the handler: the driver's own exception may carry the password.
    raise ConnectionFailed(f"cannot connect to {redacted(url)}: {message}", next_step, code=code)
