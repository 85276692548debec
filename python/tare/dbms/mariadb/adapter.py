"""Opening a connection to a MariaDB or MySQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math
from contextlib import suppress
from importlib import import_module
from typing import Any

from tare.dbms import local
from tare.dbms.base import Adapter
from tare.dbms.mariadb import refusals
from tare.dbms.mariadb.session import MariaDBSession
from tare.dbms.url import Url, parse, redacted, scrubbed
from tare.errors import ConnectionFailed, MissingPackage, UsageError

DEFAULT_PORT = 3306
DEFAULT_SOCKET = "/run/mysqld/mysqld.sock"  # of the client library, without host and port
_MULTI_STATEMENTS = 1 << 16  # for set-up statements; measured ones go through PREPARE, which takes one

_TLS: dict[str, dict[str, Any]] = {
    "disabled": {},
    "required": {"ssl": True},
    "verify-ca": {"ssl": True, "ssl_verify_cert": True},
}
"""Arguments of the driver by `ssl-mode` of the URL. Without it a connection that is refused is tried encrypted, as a
user may be required to be."""
_MAY_NEED_TLS = refusals.INSECURE | {refusals.DENIED}
_FILES = {"ssl-ca": "ssl_ca", "ssl-cert": "ssl_cert", "ssl-key": "ssl_key"}
_KNOWN = frozenset({"socket", "unix_socket", "ssl-mode", *_FILES})


class MariaDB(Adapter):
    name = "mariadb"
    schemes = ("mariadb", "mysql")
    extra = "mariadb"

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> MariaDBSession:
        parts = parse(url)
        self.need_driver()
        driver = _driver()
        arguments = _arguments(parts, url, timeout_s)

        def opened(**more: Any) -> Any:
            try:
                return driver.connect(**arguments, **more, client_flag=_MULTI_STATEMENTS)
            except driver.Error as error:
                message, number = scrubbed(str(error).strip(), parts.password), error.errno
            advice = refusals.CONNECTION.get(number, refusals.CONNECTION_DEFAULT)
            if number in _MAY_NEED_TLS and "ssl" not in arguments:
                with suppress(driver.Error):
                    encrypted = driver.connect(**arguments, **more, client_flag=_MULTI_STATEMENTS, ssl=True)
                    if "ssl-mode" not in parts.parameters:
                        arguments["ssl"] = True  # of the sessions to come, too
                        return encrypted
                    encrypted.close()
                    advice = "leave ssl-mode=disabled out: the server demands that this user's connection is encrypted"
            # Raised outside the handler, apart from the driver's own exception.
            raise ConnectionFailed(f"cannot connect to {redacted(url)}: {message}", advice)

        return MariaDBSession(
            driver,
            opened,
            url=redacted(url),
            near=parts.host in (None, "localhost", "127.0.0.1", "::1"),
            listening=lambda: listening(parts),
            password=parts.password,
            allow_writes=allow_writes,
            allow_restart=allow_restart,
        )


def listening(parts: Url) -> list[int]:
    """Processes of this machine that listen where the URL leads to."""
    socket = parts.parameters.get("socket") or parts.parameters.get("unix_socket")
    if socket is None and parts.host in (None, "localhost") and parts.port is None:
        socket = DEFAULT_SOCKET
    return local.listeners(parts.port or DEFAULT_PORT, socket)


def _driver() -> Any:
    try:
        return import_module("mariadb")
    except ImportError as error:
        raise MissingPackage(
            f"the MariaDB connector cannot be loaded: {error}",
            "install MariaDB's client library (Debian: libmariadb3), then: pip install --force-reinstall mariadb",
        ) from None


def _arguments(parts: Url, url: str, timeout_s: float) -> dict[str, Any]:
    if set(parts.parameters) - _KNOWN:
        raise UsageError(
            f"{redacted(url)} has a parameter that is not known", f"known are {', '.join(sorted(_KNOWN))}"
        )
    mode = parts.parameters.get("ssl-mode", "disabled").lower()
    if mode not in _TLS:
        raise UsageError(f"{redacted(url)}: ssl-mode is none that is known", f"give one of {', '.join(_TLS)}")
    socket = parts.parameters.get("socket") or parts.parameters.get("unix_socket")
    # The client library takes "localhost" for a socket even where a port is given.
    host = "127.0.0.1" if parts.host == "localhost" and parts.port else parts.host
    given = {
        "host": None if socket else host,
        "port": parts.port,
        "user": parts.user,
        "password": parts.password,
        "database": parts.database,
        "unix_socket": socket,
    }
    files = {name: parts.parameters[key] for key, name in _FILES.items() if key in parts.parameters}
    return (
        {key: value for key, value in given.items() if value is not None}
        | _TLS[mode]
        | files
        | {
            "connect_timeout": max(1, math.ceil(timeout_s)),
            "autocommit": True,
        }
    )
