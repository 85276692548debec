"""Facts about a setting, and the server that gives them and takes changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.dbms.base import Server
from tare.errors import TareError, UsageError


class Reach(StrEnum):
    """Condition under which the whole load runs under a changed value."""

    AT_ONCE = "at once"  # sessions that are open follow
    NEW_SESSIONS = "new sessions"  # only sessions opened later follow
    RESTART = "restart"
    FIXED = "fixed"  # built in, or of one session alone


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as the server describes it."""

    name: str
    value: str  # that new sessions start with, in the server's own unit
    reach: Reach
    kind: str  # type in the server's words: "integer", "enum", "BIGINT UNSIGNED", …
    unit: str | None = None  # of `value`: "8kB", "ms"; None: none, or bytes
    low: str | None = None
    high: str | None = None
    choices: tuple[str, ...] = ()
    default: str | None = None
    source: str = ""  # where the value comes from, in the server's words
    is_pending: bool = False  # a changed value waits for a restart
    overridden_by: str | None = None  # a place that the server prefers to changes at run time

    def takes(self, value: str) -> bool:
        """Whether a value is among the setting's choices. Ranges are left to the server."""
        return not self.choices or value.lower() in {choice.lower() for choice in self.choices}

    def check(self, value: str) -> None:
        """Raises UsageError for a value that the setting does not take."""
        if not self.takes(value):
            raise UsageError(
                f"{self.name} does not take {value!r}", f"choose one of {', '.join(self.choices)}"
            )


@dataclass(frozen=True, slots=True)
class Kept:
    """A setting as it was before a change."""

    name: str
    value: str  # as `Setting.value`
    stored: str | None = None  # in the file that run-time changes go to; None: it held nothing


class ChangeFailed(TareError):
    """The server did not take a setting, or took another value than the requested one."""


class SettingServer(ABC):
    """A server whose settings can be read, changed, and put back. Every change is read back."""

    @property
    @abstractmethod
    def server(self) -> Server: ...

    @property
    @abstractmethod
    def url(self) -> str:
        """With its password."""

    @abstractmethod
    def settings(self, names: Sequence[str] | None = None) -> Mapping[str, Setting]:
        """Facts by name; None: all. Raises UsageError for a name that the server does not know."""

    @abstractmethod
    def keep(self, names: Sequence[str]) -> tuple[Kept, ...]:
        """Read what these settings are now."""

    @abstractmethod
    def change(self, values: Mapping[str, str]) -> None:
        """Change settings that need no restart. Raises ChangeFailed unless the server reads back each value."""

    @abstractmethod
    def put_back(self, kept: Sequence[Kept]) -> None:
        """Put settings back exactly as they were kept. Raises ChangeFailed unless the server proves it."""

    @abstractmethod
    def is_standby(self) -> bool: ...

    @abstractmethod
    def foreign_sessions(self) -> tuple[str, ...]:
        """Sessions of other clients, described for a reader."""

    @abstractmethod
    def execute(self, sql: str) -> None:
        """Run statements and drop their results."""

    @abstractmethod
    def close(self) -> None: ...


def known(found: Mapping[str, Setting], names: Sequence[str], dbms: str) -> Mapping[str, Setting]:
    """The facts of these names. Raises UsageError if some are missing."""
    missing = [name for name in names if name not in found]
    if missing:
        raise UsageError(
            f"{dbms} has no setting {', '.join(missing)}", "write each name as the server itself lists it"
        )
    return {name: found[name] for name in names}
