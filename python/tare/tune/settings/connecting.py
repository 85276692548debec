"""The settings of the server that a URL names."""

from __future__ import annotations

from tare.dbms.registry import find
from tare.errors import UsageError
from tare.tune.settings.setting import SettingServer


def connect(url: str, timeout_s: float = 10.0) -> SettingServer:
    """Raises UsageError for a DBMS whose settings Tare cannot change, and what connecting raises."""
    session = find(url).connect(url, timeout_s=timeout_s, allow_writes=True)
    from tare.dbms.mariadb.session import MariaDBSession
    from tare.dbms.postgresql.session import PostgreSQLSession

    if isinstance(session, PostgreSQLSession):
        from tare.tune.settings.postgresql import PostgreSQLSettings

        return PostgreSQLSettings(session, url)
    if isinstance(session, MariaDBSession):
        from tare.tune.settings.mariadb import MariaDBSettings

        return MariaDBSettings(session, url)
    dbms = session.server.dbms
    session.close()
    raise UsageError(f"Tare does not tune {dbms}", "give a PostgreSQL, MariaDB or MySQL")
