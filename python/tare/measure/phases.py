"""The phases around the timed runs, named as hyperfine names them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.errors import ServerLost, TareError


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
