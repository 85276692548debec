"""Opening a connection to a MariaDB or MySQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from tare.dbms.base import Adapter
from tare.dbms.mariadb.session import MariaDBSession
from tare.dbms.url import Url, parse, redacted, scrubbed
from tare.errors import ConnectionFailed, MissingDriver, UsageError

_MULTI_STATEMENTS = 1 << 16  # for set-up statements; measured ones go through PREPARE, which takes one

_ADVICE = {
    1044: "give the user a right to this database, or name another",
    1045: "check the user and the password in the URL",
    1049: "check the database's name; SHOW DATABASES lists them",
    1040: "close other connections or raise max_connections",
    1698: "connect as the operating system's user of that name, or with a user that has a password",
    2002: "start the server, or check host, port and socket; `tare server start mariadb` gives one",
    2003: "start the server, or check host and port; `tare server start mariadb` gives one",
    2005: "check the host's name",
    2013: "check host, port and firewall, or allow a longer connection time-out",
}


class MariaDB(Adapter):
    name = "mariadb"
    schemes = ("mariadb", "mysql")

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> MariaDBSession:
        parts = parse(url)
        driver = _driver()
        arguments = _arguments(parts, url, timeout_s)

        def opened(**more: Any) -> Any:
            try:
                return driver.connect(**arguments, **more, client_flag=_MULTI_STATEMENTS)
            except driver.Error as error:
                message, number = scrubbed(str(error).strip(), parts.password), error.errno
            # Raised outside the handler, apart from the driver's own exception.
            raise ConnectionFailed(
                f"cannot connect to {redacted(url)}: {message}",
                _ADVICE.get(number, "check the URL and the server's log"),
            )

        return MariaDBSession(
            driver,
            opened,
            url=redacted(url),
            near=parts.host in (None, "localhost", "127.0.0.1", "::1"),
            password=parts.password,
            allow_writes=allow_writes,
            allow_restart=allow_restart,
        )


def _driver() -> Any:
    try:
        return import_module("mariadb")
    except ImportError as error:
        raise MissingDriver(
            f"the MariaDB connector is not installed: {error}",
            "pip install 'tare-db[mariadb]' (on Debian it is built with the package libmariadb-dev)",
        ) from None


def _arguments(parts: Url, url: str, timeout_s: float) -> dict[str, Any]:
    unknown = set(parts.parameters) - {"socket", "unix_socket"}
    if unknown:
        raise UsageError(f"{redacted(url)} has a parameter that is not known", "only socket=/path is known")
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
    return {key: value for key, value in given.items() if value is not None} | {
        "connect_timeout": max(1, math.ceil(timeout_s)),
        "autocommit": True,
    }
