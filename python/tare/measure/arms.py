"""Arms of a comparison: a server each, or values of its settings, under which the same query runs by turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.dbms.base import Session
from tare.dbms.sessionstate import set_statement
from tare.errors import BadStatement, StatementFailed, TareError, UsageError
from tare.measure.rig_keeper import RigKeeper

OWN_SERVER = (
    "give each arm a server of its own: `tare server start … --set NAME=VALUE`, then --a-db and --b-db"
)


@dataclass(slots=True)
class Arm:
    """A rig of its own, and the settings of its sessions."""

    letter: str
    rigs: RigKeeper
    settings: Mapping[str, str] = field(default_factory=dict)  # as given
    values: dict[str, str] = field(default_factory=dict)  # as the session reads them back

    def apply(self, session: Session) -> None:
        """Make the session's settings the arm's; those that are so already are left alone.

        Called with each session before anything is prepared in it: a plan may depend on the setting. Raises
        UsageError for a setting that a session cannot change, TareError for one that did not stay."""
        for name, value in self.settings.items():
            statement = set_statement(session.server.dbms, name, value)
            if name in self.values and session.setting(name) == self.values[name]:
                continue
            try:
                session.run(statement)
            except (BadStatement, StatementFailed) as error:
                raise UsageError(
                    f"arm {self.letter}: a session cannot set {name} to {value}: {error.what}", OWN_SERVER
                ) from error
            now = session.setting(name)
            if now is None:
                raise UsageError(
                    f"arm {self.letter}: {name} cannot be read back from {session.server.dbms}",
                    "name a setting as the DBMS does",
                )
            if self.values.setdefault(name, now) != now:
                raise TareError(
                    f"arm {self.letter}: {name} became {now}, and was {self.values[name]}",
                    "see what else sets it in this session, such as --setup",
                )
