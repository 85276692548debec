"""Places of the journals from which a run's settings are put back. Light: every command looks there first."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def places() -> tuple[Path, ...]:
    """Directories in which this user's runs may keep their journals, the usual one first.

    Root has one place only, so that all of root's runs meet."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    bases = [Path("/run")] if os.geteuid() == 0 else [Path(runtime)] if runtime else []
    with suppress(RuntimeError):  # a user without a home, as containers have them
        bases.append(_state())
    return tuple(base / "tare" for base in dict.fromkeys(bases))


def tuning_directory() -> Path:
    """Folder of this user's journals of tuning runs, whose changes outlive a restart of the machine."""
    return _state() / "tare" / "tune"


def has_tuning_journals() -> bool:
    """Whether a tuning run lives, or was killed and left settings of a server."""
    with suppress(OSError, RuntimeError):
        return any(tuning_directory().glob("tune-*.journal"))
    return False


def with_journals() -> list[Path]:
    """Return the `places` that hold a journal, of a run that lives or was killed."""
    directories = []
    for directory in places():
        with suppress(OSError):
            if any(directory.glob("run-*.journal")):
                directories.append(directory)
    return directories


def _state() -> Path:
    """Folder for what programs keep for this user. Raises RuntimeError for a user without a home."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
