"""Opening a connection to a MariaDB or MySQL server, and saying clearly why it could not be opened."""

from __future__ import annotations

import math
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tare.dbms.base import Adapter
from tare.dbms.mariadb import failures
from tare.dbms.url import Url, parse, redacted, scrubbed
from tare.errors import ConnectionFailed, MissingDriver, UsageError

if TYPE_CHECKING:
    from tare.dbms.mariadb.session import MariaDBSession

_MULTI_STATEMENTS = 1 << 16  # for set-up statements; measured ones go through PREPARE, which takes one

_PATHS = ("ssl_ca", "ssl_cert", "ssl_key", "plugin_dir")
_SWITCHES = {"true": True, "false": False, "1": True, "0": False}


class MariaDB(Adapter):
    name = "mariadb"
    schemes = ("mariadb", "mysql")

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> MariaDBSession:
        from tare.dbms.mariadb.session import MariaDBSession

        parts = parse(url)
        driver = _driver()
        arguments = _arguments(parts, url, timeout_s)

        def opened(**more: Any) -> Any:
            try:
                connection = driver.connect(**arguments | more, client_flag=_MULTI_STATEMENTS)
                if "ssl" not in arguments or _is_encrypted(connection):
                    return connection
                connection.close()
                message, number = "the server offers no TLS", failures.TLS_FAILED
            except driver.Error as error:
                message, number = scrubbed(str(error).strip(), parts.password), error.errno
            # Raised outside the handler, apart from the driver's own exception.
            raise ConnectionFailed(
                f"cannot connect to {redacted(url)}: {message}",
                _next_step(driver, arguments, number),
                code=str(number),
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

    def statements(self, sql: str) -> list[str]:
        from tare.dbms.scripts import statements  # 0.1 s

        return statements(sql, "mysql")


def _is_encrypted(connection: Any) -> bool:
    """The driver connects without TLS where the server has none, although it is told to insist."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        return any(cipher for _, cipher in cursor.fetchall())


def _next_step(driver: Any, arguments: dict[str, Any], number: int) -> str:
    """A user who must use TLS is refused like one with a wrong password: another attempt tells them apart."""
    if number == failures.ACCESS_DENIED and "ssl" not in arguments:
        with suppress(driver.Error):
            driver.connect(**arguments, ssl=True).close()
            return failures.TLS_NEEDED
    return failures.CONNECTIONS.get(number, failures.CONNECTION_ELSE)


def _driver() -> Any:
    try:
        return import_module("mariadb")
    except ImportError as error:
        raise MissingDriver(
            f"the MariaDB connector is not installed: {error}",
            "pip install 'tare-db[mariadb]' (on Debian it is built with the package libmariadb-dev)",
        ) from None


def _arguments(parts: Url, url: str, timeout_s: float) -> dict[str, Any]:
    known = {"socket", "unix_socket", "ssl", "ssl_verify_cert", *_PATHS}
    if set(parts.parameters) - known:
        raise UsageError(
            f"{redacted(url)} has a parameter that is not known",
            f"known are socket=/PATH, ssl=true, ssl_verify_cert=true and {', '.join(_PATHS)}=/PATH",
        )
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
        **{name: parts.parameters.get(name) for name in _PATHS},
        **{name: _switch(parts, url, name) for name in ("ssl", "ssl_verify_cert")},
    }
    return {key: value for key, value in given.items() if value is not None} | {
        "connect_timeout": max(1, math.ceil(timeout_s)),
        "autocommit": True,
    }


def _switch(parts: Url, url: str, name: str) -> bool | None:
    """True for `?ssl=true`; None for false, which is the client library's default."""
    value = parts.parameters.get(name, "false").lower()
    if value not in _SWITCHES:
        raise UsageError(f"{redacted(url)}: {name} is neither true nor false", f"write ?{name}=true")
    return _SWITCHES[value] or None
