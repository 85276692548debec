"""Cause of a connection that PostgreSQL refused, found out by connecting once more.

psycopg's exception holds libpq's words, which follow the server's language; the SQLSTATE does not. libpq puts it into
its words where it is set to do so before the server answers.
"""

from __future__ import annotations

import ctypes
import re
import select
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import ConnStatus, PGconn, PollingStatus, abc

from tare.dbms.postgresql import refusals

LOOK_S = 3.0
_VERBOSE = 2  # PQERRORS_VERBOSE
_STATE = re.compile(r":  ([0-9A-Z]{5}): ")
_WITHOUT_TLS = ("disable", "allow")
_DEFAULT = "check the URL and the server's log"
_NOT_REACHED = "start the server (`tare server start postgresql`), or check host, port and socket directory"


@dataclass(frozen=True, slots=True)
class _Attempt:
    is_open: bool
    state: str | None  # SQLSTATE of the server's answer
    needs_password: bool = False


def next_step(parameters: Mapping[str, Any], error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return "check host, port and firewall, or allow a longer connection time-out"
    attempt = _attempt(parameters)
    if attempt.state == "28000" and parameters.get("sslmode") in _WITHOUT_TLS:
        encrypted = _attempt({**parameters, "sslmode": "require"})
        if encrypted.is_open or encrypted.state not in (None, "28000"):
            return "let the connection be encrypted, as the server demands: sslmode=require"
    if attempt.state is not None:
        return refusals.next_step(refusals.CONNECTION, attempt.state, _DEFAULT)
    if attempt.needs_password:
        return "give a password in the URL, PGPASSWORD or ~/.pgpass"
    return _unreached(parameters)


def _unreached(parameters: Mapping[str, Any]) -> str:
    """Next step where no server answered."""
    if "service" in parameters:
        return "name a service of ~/.pg_service.conf or PGSERVICEFILE, and check its host and port"
    host = str(parameters.get("host", ""))
    try:
        if host and not host.startswith(("/", "@")) and "," not in host:
            socket.getaddrinfo(host, None)
    except OSError:
        return "check the host's name"
    if str(parameters.get("sslmode", "")) in ("require", "verify-ca", "verify-full"):
        return f"see whether the server speaks TLS with a certificate that sslrootcert proves; else {_NOT_REACHED}"
    return _NOT_REACHED


def _attempt(parameters: Mapping[str, Any]) -> _Attempt:
    connection = PGconn.connect_start(make_conninfo("", **parameters).encode())
    try:
        _set_verbose(connection)
        until = time.monotonic() + LOOK_S
        while connection.status != ConnStatus.BAD:
            polled = connection.connect_poll()
            if polled == PollingStatus.OK:
                return _Attempt(True, None)
            if polled == PollingStatus.FAILED or not _wait(connection.socket, polled, until):
                break
        found = _STATE.search(connection.get_error_message())
        return _Attempt(False, found.group(1) if found else None, connection.needs_password)
    finally:
        connection.finish()


def _wait(descriptor: int, polled: int, until: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN if polled == PollingStatus.READING else select.POLLOUT)
    return bool(poller.poll(max(0.0, until - time.monotonic()) * 1000))


def _set_verbose(connection: abc.PGconn) -> None:
    """psycopg does not offer it. Without the library's file the words stay without the SQLSTATE."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        file = line.split(maxsplit=5)[5:]
        if file and Path(file[0]).name.startswith("libpq"):
            pointer = getattr(connection, "pgconn_ptr", None)  # psycopg's types lack it
            ctypes.CDLL(file[0]).PQsetErrorVerbosity(ctypes.c_void_p(pointer), _VERBOSE)
            return
