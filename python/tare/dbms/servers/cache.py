"""Folders that Tare makes once and all servers use: copies of programs, and programs that it has downloaded."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tare.errors import ServerFailed


def _root() -> Path:
    """Root's is readable by the ordinary users that root runs servers as."""
    if os.geteuid() == 0:
        return Path("/var/cache/tare")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "tare"


ROOT = _root()


def once(name: str, make: Callable[[Path], object], *, what: str, next_step: str) -> Path:
    """Return the folder of this name, filled by `make` where it is not there: whole or not at all.

    Raises ServerFailed, and what `make` raises."""
    target = ROOT / name
    if target.is_dir():
        return target
    try:
        ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            ROOT.chmod(0o755)
        making = Path(tempfile.mkdtemp(dir=ROOT, prefix=".making-"))
        try:
            make(making)
            making.chmod(0o755)
            making.rename(target)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        if target.is_dir():  # another process was faster
            return target
        raise ServerFailed(f"{what} could not be written to {ROOT}: {error}", next_step) from error
    return target
