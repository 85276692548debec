"""Settings that a run left whose guardian was killed with it, and how they are put back."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import TareError
from tare.journals import with_journals
from tare.measure.machine.exclusive import exclusive
from tare.measure.machine.putback.journal import Run, runs, undo_all
from tare.measure.machine.putback.steps import Claim, Undone, Unknown
from tare.measure.machine.settings import journal_directory

_PATIENCE_S = 0.5


@dataclass(frozen=True, slots=True)
class Leftover:
    """A crashed run's journal: the values it did not get to put back, last change first."""

    journal: Path
    pid: int | None
    command: str
    to_put_back: tuple[str, ...]
    readable: bool  # False where another version of Tare wrote what this one cannot undo


def leftovers(directory: Path | None = None) -> list[Leftover]:
    """Return what this user's runs have left since boot. Raises TareError where there is no place for journals."""
    directory = directory or journal_directory()
    with exclusive(directory):
        return [
            Leftover(
                run.path,
                run.header.pid if run.header else None,
                run.header.command if run.header else "",
                tuple(step.describe() for step in reversed(run.steps) if not isinstance(step, Claim)),
                not _is_foreign(run),
            )
            for run in runs(directory)
            if not run.alive
        ]


def restore(directory: Path | None = None) -> list[Undone]:
    """Puts back what crashed runs left. Settings that a living run holds are left to that run."""
    directory = directory or journal_directory()
    with exclusive(directory):
        return _restored(runs(directory))


def put_back_first() -> list[Undone]:
    """Puts back what crashed runs left, before a command begins.

    Leaves alone what another version wrote (`tare doctor` names it), and everything where another run has the lock
    for longer than `_PATIENCE_S`: the command may need no settings at all."""
    results = []
    for directory in with_journals():
        with suppress(OSError, TareError), exclusive(directory, _PATIENCE_S):
            results += _restored(run for run in runs(directory) if not _is_foreign(run))
    return results


def _restored(crashed: Iterable[Run]) -> list[Undone]:
    """Call under the lock. The last run's changes first."""
    return [
        undone
        for run in reversed(list(crashed))
        if not run.alive
        for undone in undo_all(run.path, list(run.steps))
    ]


def _is_foreign(run: Run) -> bool:
    return any(isinstance(step, Unknown) for step in run.steps)
