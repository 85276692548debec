"""The policy of a graft as a setting of its server: `graft.lock-order`, `graft.lazy-lru`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.dbms.base import Server
from tare.dbms.servers import listing
from tare.errors import TareError, UsageError
from tare.grafts import server as grafts
from tare.grafts.shared import State
from tare.tune.settings.setting import GRAFT, ChangeFailed, Kept, Reach, Setting, SettingServer


class GraftedSettings(SettingServer):
    """A server with a graft: its own settings, and the graft's policy, which changes at once."""

    def __init__(self, inner: SettingServer, directory: Path) -> None:
        self._inner = inner
        self._directory = directory
        self._name = GRAFT + self._state.graft.name

    @property
    def _state(self) -> State:
        return grafts.status(self._directory)[1]

    @property
    def server(self) -> Server:
        return self._inner.server

    @property
    def url(self) -> str:
        return self._inner.url

    def settings(self, names: Sequence[str] | None = None) -> Mapping[str, Setting]:
        own = self._own_names(names) if names is not None else None
        found = dict(self._inner.settings(own)) if own is None or own else {}
        if names is None or self._name in names:
            found[self._name] = self._setting()
        return found

    def keep(self, names: Sequence[str]) -> tuple[Kept, ...]:
        own = self._inner.keep(self._own_names(names))
        return (*own, Kept(self._name, self._state.policy)) if self._name in names else own

    def change(self, values: Mapping[str, str]) -> None:
        own = {name: value for name, value in values.items() if name != self._name}
        if own:
            self._inner.change(own)
        if self._name in values:
            self._switch(values[self._name])

    def put_back(self, kept: Sequence[Kept]) -> None:
        self._inner.put_back([setting for setting in kept if setting.name != self._name])
        for setting in kept:
            if setting.name == self._name:
                self._switch(setting.value)

    def is_standby(self) -> bool:
        return self._inner.is_standby()

    def foreign_sessions(self) -> tuple[str, ...]:
        return self._inner.foreign_sessions()

    def execute(self, sql: str) -> None:
        self._inner.execute(sql)

    def close(self) -> None:
        self._inner.close()

    def _own_names(self, names: Sequence[str]) -> list[str]:
        """Names of the server's own settings. Raises UsageError for a graft that it does not have."""
        own = [name for name in names if name != self._name]
        for name in own:
            if name.startswith(GRAFT):
                raise UsageError(f"this server has no {name}", f"its graft is {self._name}")
        return own

    def _setting(self) -> Setting:
        state = self._state
        policies = tuple(policy.name for policy in state.graft.policies)
        return Setting(
            name=self._name,
            value=state.policy,
            reach=Reach.AT_ONCE,
            kind="policy",
            choices=policies,
            default=policies[0],
            source="the graft's memory",
        )

    def _switch(self, policy: str) -> None:
        try:
            found = grafts.switch(self._directory, policy).policy
        except UsageError:
            raise
        except TareError as failed:
            raise ChangeFailed(
                f"the graft did not take the policy {policy}: {failed.what}", failed.next_step
            ) from failed
        if found != policy:
            raise ChangeFailed(f"the graft follows {found}, not {policy}", "see `tare graft status`")


def directory_of(server: Server) -> Path | None:
    """Folder of the throw-away server with a graft that this is; None for any other server."""
    if server.data_directory is None:
        return None
    for state in listing.servers_here():
        record = state.record
        if record.has_graft and record.data_directory.resolve() == server.data_directory.resolve():
            return record.directory
    return None
