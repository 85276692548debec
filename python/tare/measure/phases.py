"""The phases around the timed runs, named as hyperfine names them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.dbms.redaction import redacted_text
from tare.errors import BadStatement, ServerLost, StatementFailed, TareError
from tare.measure.source import excerpt
from tare.words import as_text

_LOCAL = re.compile(r"\bLOCAL\b", re.IGNORECASE)


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
        """From the options, each perhaps absent. Raises UsageError for SQL that is not UTF-8."""
        return cls(
            *(
                tuple(text if text.startswith("!") else as_text(text) for text in texts or ())
                for texts in given
            )
        )


def run_phase(session: Session, name: str, texts: Sequence[str]) -> None:
    """Runs them in order. Raises TareError naming the phase if one fails."""
    for text in texts:
        if text.startswith("!"):
            _run_command(name, text)
        elif text.strip():
            _run_sql(session.run, name, text)


def repeat_phase(session: Session, name: str, texts: Sequence[str]) -> None:
    """Runs the SQL of them again in a further session, as `Session.repeat`. What a command did is there already.

    Raises TareError naming the phase if one fails."""
    for text in texts:
        if text.strip() and not text.startswith("!"):
            _run_sql(session.repeat, name, text)


def _run_command(name: str, text: str) -> None:
    done = subprocess.run(text[1:], shell=True, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise TareError(
            redacted_text(
                f"--{name} {text!r} ended with exit code {done.returncode}"
                + (f": {said[-1]}" if said else "")
            ),
            "run the command by itself and see that it succeeds",
        )


def _run_sql(run: Callable[[str], None], name: str, text: str) -> None:
    try:
        run(text)
    except ServerLost:
        raise  # the caller connects anew
    except TareError as error:
        offset = error.offset if isinstance(error, StatementFailed) else None
        failure = TareError(
            redacted_text(f"--{name} {text!r} failed: {error.what}"),
            error.next_step,
            code=error.code,
            excerpt="" if offset is None else excerpt(text, offset),
        )
        failure.exit_code = error.exit_code
        raise failure from error


class SessionState:
    """State that set-up gives to the session, and to each further one."""

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._changed: dict[str, str | None] = {}

    def set_up(self, session: Session) -> None:
        """Runs the set-up phase. Raises TareError if it fails."""
        if session.server.dbms == "postgresql":
            self._refuse_local()
        before = session.settings() if self._phases.setup else {}
        run_phase(session, "setup", self._phases.setup)
        self._changed |= _changed(before, session.settings() if self._phases.setup else {})

    def renew(self, session: Session) -> None:
        """Makes a further session like the first: all of set-up and of `prepare` runs again, except what lasts. Then
        what set-up has changed in the first is read back.

        Raises TareError naming the phase if it fails, or if a setting does not have its value."""
        repeat_phase(session, "setup", self._phases.setup)
        now = session.settings() if self._changed else {}
        repeat_phase(session, "prepare", self._phases.prepare)
        for name, value in self._changed.items():
            if now.get(name) != value:
                raise TareError(
                    f"--setup: {name} is {_shown(now.get(name))} in the new session of {session.server.url}, "
                    f"and was {_shown(value)}",
                    "set it where a new session keeps it, such as in the server's configuration",
                )

    def _refuse_local(self) -> None:
        texts = [text for text in (*self._phases.setup, *self._phases.prepare) if _LOCAL.search(text)]
        if not texts:
            return
        from tare.dbms.scripts import is_local, statements  # 0.1 s: only where the word occurs

        for statement in (part for text in texts for part in statements(text, "postgres")):
            if is_local(statement):
                raise BadStatement(
                    f"{statement!r} ends with its own transaction, before any query runs",
                    "write SET without LOCAL: it holds for the session",
                )


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Names whose value is another one afterwards, with that value; None for one that is gone."""
    names = before.keys() | after.keys()
    return {name: after.get(name) for name in sorted(names) if before.get(name) != after.get(name)}


def _shown(value: str | None) -> str:
    return "not set" if value is None else repr(value) if value == "" else value
