"""Arms of a comparison: a session each, on a server of its own or under settings of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.dbms.base import Session
from tare.dbms.setting import set_statement
from tare.errors import StatementFailed, TareError, UsageError
from tare.measure.phases import Phases, SessionState
from tare.measure.rig import Rig

_OWN_SERVER = (
    "give each arm a server of its own that is started with it, then name the two by --a-db and --b-db"
)


@dataclass(slots=True)
class Arm:
    """A rig, and the settings of its sessions."""

    letter: str
    rig: Rig
    phases: Phases
    settings: Mapping[str, str] = field(default_factory=dict)  # as given
    values: dict[str, str] = field(default_factory=dict)  # as the session reads them back
    state: SessionState = field(init=False)

    def __post_init__(self) -> None:
        self.state = SessionState(self.phases)

    def apply(self, session: Session) -> None:
        """Give the session the arm's settings; those that it has already are left alone.

        Called before anything is prepared in a session, since a plan may depend on a setting. Raises UsageError for a
        setting that a session cannot change, TareError for one that has another value than in an earlier session."""
        if not self.settings:
            return
        found = _by_name(session)
        for name, value in self.settings.items():
            if name not in self.values or found.get(name.lower()) != self.values[name]:
                self._set(session, name, value)
        found = _by_name(session)
        for name in self.settings:
            now = found.get(name.lower())
            if now is None:
                raise UsageError(
                    f"arm {self.letter}: {name} cannot be read back from {session.server.dbms}",
                    "write the setting's name as the DBMS lists it",
                )
            if self.values.setdefault(name, now) != now:
                raise TareError(
                    f"arm {self.letter}: {name} became {now}, and was {self.values[name]}",
                    "see what else sets it in this session, such as --setup",
                )

    def _set(self, session: Session, name: str, value: str) -> None:
        try:
            session.run(set_statement(session.server.dbms, name, value))
        except StatementFailed as error:
            raise UsageError(
                f"arm {self.letter}: a session cannot set {name} to {value}: {error.what}", _OWN_SERVER
            ) from error


def _by_name(session: Session) -> dict[str, str]:
    """Return the session's settings; names are in lower case, since no DBMS tells the two cases apart."""
    return {name.lower(): value for name, value in session.settings().items()}
