"""The phases around the timed runs, named as hyperfine names them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.dbms.sessionstate import ending_with_session, is_local, setting_of
from tare.errors import BadStatement, ServerLost, TareError


@dataclass(frozen=True, slots=True)
class Phases:
    """SQL to run outside all clocks; text that starts with `!` is a shell command.

    setup and cleanup run once per query, before its first and after its last QE;
    prepare and conclude run before and after each QE.
    """

    setup: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    conclude: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()

    @classmethod
    def of(cls, *given: Sequence[str] | None) -> Phases:
        """From the options, each perhaps absent."""
        return cls(*(tuple(texts or ()) for texts in given))


def run_phase(session: Session, name: str, texts: Sequence[str]) -> None:
    """Runs them in order. Raises TareError naming the phase if one fails."""
    for text in texts:
        _run(session, name, text)


def _run(session: Session, name: str, text: str) -> None:
    if not text.strip():
        return
    if text.startswith("!"):
        done = subprocess.run(text[1:], shell=True, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise TareError(
                f"--{name} {text!r} ended with exit code {done.returncode}"
                + (f": {said[-1]}" if said else ""),
                "run the command by itself and see that it succeeds",
            )
        return
    try:
        session.run(text)
    except ServerLost:
        raise  # the caller connects anew
    except TareError as error:
        raise TareError(f"--{name} {text!r} failed: {error.what}", error.next_step) from error


class SessionState:
    """State that set-up has put into the session, and puts into each further one."""

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._values: dict[str, str] = {}

    def set_up(self, session: Session) -> None:
        """Runs the set-up phase. Raises TareError if it fails."""
        if session.server.dbms == "postgresql":
            self._refuse_local()
        run_phase(session, "setup", self._phases.setup)
        self._values = self._read(session)

    def renew(self, session: Session) -> None:
        """Makes a further session like the first, and reads back what can be.

        Raises TareError naming the phase if it fails, or if a setting does not have its value."""
        for name in ("setup", "prepare"):
            run_phase(session, name, ending_with_session(getattr(self._phases, name)))
        for name, now in self._read(session).items():
            if name in self._values and now != self._values[name]:
                raise TareError(
                    f"--setup: {name} is {now} in the new session of {session.server.url}, "
                    f"and was {self._values[name]}",
                    "set it where a new session keeps it, such as in the server's configuration",
                )

    def _read(self, session: Session) -> dict[str, str]:
        names = [setting_of(statement) for statement in ending_with_session(self._phases.setup)]
        values = {name: session.setting(name) for name in names if name is not None}
        return {name: value for name, value in values.items() if value is not None}

    def _refuse_local(self) -> None:
        for statement in ending_with_session((*self._phases.setup, *self._phases.prepare)):
            if is_local(statement):
                raise BadStatement(
                    f"{statement!r} ends with its own transaction, before any query runs",
                    "write SET without LOCAL: it holds for the session",
                )
