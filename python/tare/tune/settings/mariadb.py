"""MariaDB's and MySQL's settings: information_schema.SYSTEM_VARIABLES where there is one, SET GLOBAL.

Changes by SET GLOBAL end with the server. Variables that sessions copy when they connect reach later sessions only.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from tare.dbms.base import Server
from tare.dbms.mariadb.session import MariaDBSession
from tare.errors import StatementFailed
from tare.tune.settings.setting import ChangeFailed, Kept, Reach, Setting, SettingServer, known
from tare.tune.settings.values import plain_number, same

READ_BACK_S = 30.0
"""Time for a change that the server carries out in the background, as of innodb_buffer_pool_size."""

_FACTS = (
    "SELECT VARIABLE_NAME, GLOBAL_VALUE, VARIABLE_SCOPE, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, "
    "ENUM_VALUE_LIST, DEFAULT_VALUE, GLOBAL_VALUE_ORIGIN, READ_ONLY FROM information_schema.SYSTEM_VARIABLES"
)
_OTHERS = (
    "SELECT USER, HOST, DB FROM information_schema.PROCESSLIST WHERE ID NOT IN ({}) "
    "AND COMMAND NOT IN ('Daemon', 'Binlog Dump') AND USER NOT IN ('system user', 'event_scheduler')"
)


class MariaDBSettings(SettingServer):
    """A MariaDB or MySQL, through a session that may SET GLOBAL."""

    def __init__(self, session: MariaDBSession, url: str) -> None:
        self._session = session
        self._url = url
        self._describes = session.server.dbms == "mariadb"

    @property
    def server(self) -> Server:
        return self._session.server

    @property
    def url(self) -> str:
        return self._url

    def settings(self, names: Sequence[str] | None = None) -> Mapping[str, Setting]:
        if self._describes:
            found = {setting.name: setting for setting in map(_setting, self._session.rows(_FACTS))}
        else:
            rows = self._session.rows("SHOW GLOBAL VARIABLES")
            found = {
                str(name): Setting(str(name), str(value), Reach.AT_ONCE, "unknown") for name, value in rows
            }
            found |= {name: self._tried(found[name]) for name in names or () if name in found}
        return found if names is None else known(found, names, "the server")

    def keep(self, names: Sequence[str]) -> tuple[Kept, ...]:
        return tuple(Kept(name, fact.value) for name, fact in self.settings(names).items())

    def change(self, values: Mapping[str, str]) -> None:
        for name, value in values.items():
            self._set(name, value)

    def put_back(self, kept: Sequence[Kept]) -> None:
        self.change({setting.name: setting.value for setting in kept})

    def is_standby(self) -> bool:
        return bool(self._session.rows("SHOW SLAVE STATUS"))

    def foreign_sessions(self) -> tuple[str, ...]:
        own = ", ".join(map(str, self._session.connection_ids))
        rows = self._session.rows(_OTHERS.format(own))
        return tuple(f"{user} from {host} in {database}" for user, host, database in rows)

    def execute(self, sql: str) -> None:
        self._session.run(sql)

    def close(self) -> None:
        self._session.close()

    # Inside ----------------------------------------------------------------------------
    def _tried(self, fact: Setting) -> Setting:
        """Facts of a setting that the server does not describe, found by setting its own value again."""
        try:
            self._session.run(f"SET GLOBAL {fact.name} = {_literal(fact.value)}")
        except StatementFailed:
            return Setting(fact.name, fact.value, Reach.RESTART, fact.kind)
        reach = Reach.NEW_SESSIONS if self._is_of_session(fact.name) else Reach.AT_ONCE
        return Setting(fact.name, fact.value, reach, fact.kind)

    def _is_of_session(self, name: str) -> bool:
        try:
            self._session.value(f"SELECT @@SESSION.{name}")
        except StatementFailed:
            return False
        return True

    def _set(self, name: str, value: str) -> None:
        wanted = plain_number(value) or value
        try:
            self._session.run(f"SET GLOBAL {name} = {_literal(wanted)}")
        except StatementFailed as failed:
            raise ChangeFailed(f"the server did not take {name} = {value}: {failed.what}") from failed
        until = time.monotonic() + READ_BACK_S
        while not same(found := self._now(name), wanted):
            if time.monotonic() > until or not name.startswith("innodb_buffer_pool"):
                raise ChangeFailed(
                    f"the server took {name} = {found}, not {value}", "choose a value that it takes whole"
                )
            time.sleep(0.02)

    def _now(self, name: str) -> str:
        rows = self._session.rows(f"SHOW GLOBAL VARIABLES LIKE '{name.replace('_', chr(92) + '_')}'")
        return str(rows[0][1]) if rows else ""


def _setting(row: Sequence[object]) -> Setting:
    name, value, scope, kind, low, high, choices, default, origin, read_only = row
    if str(read_only) == "YES":
        reach = Reach.RESTART
    elif str(scope) == "SESSION ONLY":
        reach = Reach.FIXED
    else:
        reach = Reach.AT_ONCE if str(scope) == "GLOBAL" else Reach.NEW_SESSIONS
    return Setting(
        name=str(name).lower(),
        value="" if value is None else str(value),
        reach=reach,
        kind=str(kind),
        low=None if low is None else str(low),
        high=None if high is None else str(high),
        choices=tuple(str(choices).split(",")) if choices and str(kind) in ("ENUM", "BOOLEAN") else (),
        default=None if default is None else str(default),
        source=str(origin),
    )


def _literal(value: str) -> str:
    """Numbers bare, as numeric variables need them; all else quoted."""
    if (number := plain_number(value)) is not None:
        return number
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
