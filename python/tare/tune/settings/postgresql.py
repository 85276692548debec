"""PostgreSQL's settings: pg_settings, ALTER SYSTEM and a reload.

The load's open sessions follow the configuration file alone: `SET` in a session of ours would change nothing for them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from tare.dbms.base import Server
from tare.dbms.postgresql.session import PostgreSQLSession
from tare.errors import StatementFailed
from tare.tune.settings.setting import ChangeFailed, Kept, Reach, Setting, SettingServer, known
from tare.tune.settings.values import in_unit, same

READ_BACK_S = 5.0
"""Time for a reload to reach a session."""

_REACH = {
    "internal": Reach.FIXED,
    "postmaster": Reach.RESTART,
    "sighup": Reach.AT_ONCE,
    "superuser-backend": Reach.NEW_SESSIONS,
    "backend": Reach.NEW_SESSIONS,
    "superuser": Reach.AT_ONCE,
    "user": Reach.AT_ONCE,
}
"""By pg_settings.context."""

_STRONGER = ("command line", "environment variable", "database", "user", "database user", "global")
"""Sources that win over the configuration file."""

_FACTS = (
    "SELECT name, reset_val, context, vartype, unit, min_val, max_val, enumvals, boot_val, source, pending_restart "
    "FROM pg_settings"
)
_STORED = (
    "SELECT name, setting FROM pg_file_settings WHERE sourcefile LIKE '%/postgresql.auto.conf' ORDER BY seqno"
)
_OTHERS = (
    "SELECT coalesce(nullif(application_name, ''), 'a session') || ' of ' || coalesce(usename, '?') || ' in ' || "
    "coalesce(datname, '?') FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid NOT IN ({})"
)
_LISTS = ("search_path", "temp_tablespaces", "local_preload_libraries")
"""Settings that ALTER SYSTEM would quote as a single word."""


class PostgreSQLSettings(SettingServer):
    """A PostgreSQL, through a session of a superuser."""

    def __init__(self, session: PostgreSQLSession, url: str) -> None:
        self._session = session
        self._url = url

    @property
    def server(self) -> Server:
        return self._session.server

    @property
    def url(self) -> str:
        return self._url

    def settings(self, names: Sequence[str] | None = None) -> Mapping[str, Setting]:
        found = {setting.name: setting for setting in map(_setting, self._session.rows(_FACTS))}
        return found if names is None else known(found, names, "PostgreSQL")

    def keep(self, names: Sequence[str]) -> tuple[Kept, ...]:
        stored = {str(name): str(value) for name, value in self._session.rows(_STORED)}
        return tuple(Kept(name, fact.value, stored.get(name)) for name, fact in self.settings(names).items())

    def change(self, values: Mapping[str, str]) -> None:
        facts = self.settings(tuple(values))
        for name, value in values.items():
            self._alter(name, value)
        self._reload({name: in_unit(value, facts[name].unit) for name, value in values.items()})

    def put_back(self, kept: Sequence[Kept]) -> None:
        for setting in kept:
            self._alter(setting.name, setting.stored)
        self._reload({setting.name: setting.value for setting in kept})
        stored = {str(name): str(value) for name, value in self._session.rows(_STORED)}
        for setting in kept:
            if stored.get(setting.name) != setting.stored:
                raise ChangeFailed(
                    f"postgresql.auto.conf holds {setting.name} = {stored.get(setting.name)}, not {setting.stored}",
                    "see whether another session changes it; then run `tare tune restore`",
                )

    def is_standby(self) -> bool:
        return bool(self._session.value("SELECT pg_is_in_recovery()"))

    def foreign_sessions(self) -> tuple[str, ...]:
        own = ", ".join(map(str, self._session.connection_ids))
        return tuple(str(row[0]) for row in self._session.rows(_OTHERS.format(own)))

    def execute(self, sql: str) -> None:
        self._session.run(sql)

    def close(self) -> None:
        self._session.close()

    # Inside ----------------------------------------------------------------------------
    def _alter(self, name: str, value: str | None) -> None:
        if name in _LISTS or name.endswith("preload_libraries"):
            raise ChangeFailed(f"{name} is a list of names, which Tare does not change", "leave it out")
        quoted = None if value is None else "'" + value.replace("'", "''") + "'"
        try:
            self._session.run(
                f"ALTER SYSTEM RESET {name}" if quoted is None else f"ALTER SYSTEM SET {name} = {quoted}"
            )
        except StatementFailed as failed:
            raise ChangeFailed(f"PostgreSQL did not take {name} = {value}: {failed.what}") from failed

    def _reload(self, expected: Mapping[str, str]) -> None:
        """Reload, and wait until this session has each expected value in the server's unit."""
        self._session.value("SELECT pg_reload_conf()")
        until = time.monotonic() + READ_BACK_S
        while True:
            now = self.settings(tuple(expected))
            wrong = [name for name, value in expected.items() if not same(now[name].value, value)]
            if not wrong:
                return
            if time.monotonic() > until:
                raise ChangeFailed(
                    "; ".join(
                        f"{name} is {now[name].value} (source: {now[name].source}), not {expected[name]}"
                        for name in wrong
                    ),
                    "see the server's log for what it refused, and pg_file_settings for other places of the setting",
                )
            time.sleep(0.01)


def _setting(row: Sequence[object]) -> Setting:
    name, value, context, kind, unit, low, high, choices, default, source, pending = row
    return Setting(
        name=str(name),
        value="" if value is None else str(value),
        reach=_REACH.get(str(context), Reach.FIXED),
        kind=str(kind),
        unit=None if unit is None else str(unit),
        low=None if low is None else str(low),
        high=None if high is None else str(high),
        choices=_words(choices),
        default=None if default is None else str(default),
        source=str(source),
        is_pending=str(pending).lower() in ("t", "true"),
        overridden_by=str(source) if source in _STRONGER else None,
    )


def _words(choices: object) -> tuple[str, ...]:
    """Members of an array, as Python's list or in PostgreSQL's text."""
    if choices is None:
        return ()
    if isinstance(choices, list | tuple):
        return tuple(map(str, choices))
    return tuple(word.strip('"') for word in str(choices).strip("{}").split(","))
