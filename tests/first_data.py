"""First data of new servers: made by the server's own program once, and copied for each server that is made alike.

To initialise a server takes a second or two of CPU, and the tests make more than a hundred.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tare.dbms.servers.owner import Owner
from tare.files import synced

_CONFIGURATION = "--defaults-file="
_PLACE = {"bind-address", "port", "skip-networking", "socket"}
"""Settings of where a server listens: its first data do not depend on them."""
_USUAL = _PLACE | {
    *("basedir", "character-set-server", "character-sets-dir", "datadir", "explicit-defaults-for-timestamp"),
    *("init-file", "innodb-buffer-pool-dump-at-shutdown", "innodb-buffer-pool-load-at-startup"),
    *("lc-messages-dir", "log-error", "pid-file", "skip-name-resolve", "tmpdir"),
}
"""Settings that every server of Tare's has."""


class FirstData:
    """Stands in for `program.run` of tare.dbms.servers."""

    def __init__(self, folder: Path, run: Callable[..., None]) -> None:
        self._folder = folder
        self._run = run

    def run(self, command: Sequence[str | Path], owner: Owner, **more: Any) -> None:
        words = [str(word) for word in command]
        data = _data(words)
        alike = None if data is None else _alike(words, data, more.get("statements", ""))
        if data is None or alike is None:
            self._run(command, owner, **more)
            return
        kept = self._folder / alike
        if kept.is_dir():
            _copy(kept, data)
            for path in data.rglob("*"):
                if (
                    path.is_file()
                ):  # as its own program leaves it: what is not on the disk stays in the page cache
                    synced(path)
            return
        self._run(command, owner, **more)
        part = Path(tempfile.mkdtemp(dir=self._folder)) / "data"
        _copy(data, part)
        with suppress(OSError):  # another thread was first
            part.rename(kept)


def _data(words: Sequence[str]) -> Path | None:
    """The directory that the command fills; None for any other command."""
    name = Path(words[0]).name
    if name == "initdb" and "-D" in words:
        return Path(words[words.index("-D") + 1])
    configuration = _configuration(words)
    if configuration is not None and (name == "mariadb-install-db" or "--bootstrap" in words):
        return configuration.parent / "data"
    return None


def _configuration(words: Sequence[str]) -> Path | None:
    files = [Path(word.removeprefix(_CONFIGURATION)) for word in words if word.startswith(_CONFIGURATION)]
    return files[0] if files else None


def _alike(words: Sequence[str], data: Path, statements: str) -> str | None:
    """A name for all servers with the same first data. None for one whose settings may bear on them."""
    configuration = _configuration(words)
    lines = [] if configuration is None else configuration.read_text().splitlines()[1:]
    settings = {name: value for name, _, value in (line.partition(" = ") for line in lines)}
    if settings.keys() - _USUAL:
        return None
    there = [f"{name}={value}" for name, value in settings.items() if name not in _PLACE]
    text = "\n".join([*words, *there, statements]).replace(str(data.parent), "")
    return hashlib.sha256(text.encode()).hexdigest()


def _copy(data: Path, to: Path) -> None:
    subprocess.run(["cp", "--archive", "--reflink=auto", "--", f"{data}/.", str(to)], check=True)
