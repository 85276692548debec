"""What a run left behind whose guardian was killed with it, and putting that back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tare.measure.machine.putback.journal import locked, runs, undo_all
from tare.measure.machine.putback.steps import Claim, Undone, Unknown
from tare.measure.machine.settings import journal_directory


@dataclass(frozen=True, slots=True)
class Leftover:
    """A crashed run's journal: the values it did not get to put back, last change first."""

    journal: Path
    pid: int | None
    command: str
    to_put_back: tuple[str, ...]
    readable: bool  # False where another version of Tare wrote what this one cannot undo


def leftovers(directory: Path | None = None) -> list[Leftover]:
    """Of this user's runs since boot. Raises TareError where there is no place for journals."""
    directory = directory or journal_directory()
    with locked(directory):
        return [
            Leftover(
                run.path,
                run.header.pid if run.header else None,
                run.header.command if run.header else "",
                tuple(step.describe() for step in reversed(run.steps) if not isinstance(step, Claim)),
                not any(isinstance(step, Unknown) for step in run.steps),
            )
            for run in runs(directory)
            if not run.alive
        ]


def restore(directory: Path | None = None) -> list[Undone]:
    """Puts back what crashed runs left. Settings that a living run holds are left to that run."""
    directory = directory or journal_directory()
    with locked(directory):
        return [
            undone
            for run in reversed(runs(directory))
            if not run.alive
            for undone in undo_all(run.path, list(run.steps))
        ]
