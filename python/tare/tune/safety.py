"""Refusals before the first change: servers that are in use, and settings that cannot be switched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.dbms.servers.record import ServerRecord, of_data_directory
from tare.dbms.url import redacted
from tare.errors import UsageError
from tare.tune.settings.setting import Reach, Setting, SettingServer


def throw_away(server: SettingServer) -> ServerRecord | None:
    """The record of the server, if Tare started it."""
    place = server.server.data_directory
    return None if place is None else of_data_directory(place)


def check_server(server: SettingServer, *, allow_changes: bool, allow_clients: bool) -> ServerRecord | None:
    """Raises UsageError for a server that must not be changed."""
    name = redacted(server.url)
    record = throw_away(server)
    if record is None and not allow_changes:
        raise UsageError(
            f"Tare did not start {name}, so its settings are not changed",
            "start a throw-away server (`tare server start`), or give --allow-changes",
        )
    if server.is_standby():
        raise UsageError(f"{name} is a standby", "tune its primary, or a throw-away server")
    others = server.foreign_sessions()
    if others and not allow_clients:
        raise UsageError(
            f"{name} has {len(others)} other sessions: {', '.join(others[:3])}",
            "end them, or give --allow-clients: they run under each arm's settings, and disturb the figures",
        )
    return record


def check_settings(facts: Mapping[str, Setting], values: Mapping[str, Sequence[str]]) -> None:
    """Raises UsageError for settings that have no arms: fixed, pending, or held by a stronger place."""
    for name, fact in facts.items():
        if fact.reach is Reach.FIXED:
            raise UsageError(f"{name} cannot be changed on this server", "leave it out")
        if fact.is_pending:
            raise UsageError(
                f"a changed {name} waits for a restart of the server", "restart the server, then run again"
            )
        if fact.overridden_by is not None:
            raise UsageError(
                f"{name} is set by the {fact.overridden_by}, which wins over the configuration file",
                "remove it there, then run again",
            )
        for value in values.get(name, ()):
            fact.check(value)
