"""Making files of this environment reachable for the ordinary user that root runs a server as.

An environment below root's home, or one installed under a strict umask, cannot be entered by
that user. Its permissions are left alone: the files are copied once to a place of Tare's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from tare.dbms.servers import cache
from tare.dbms.servers.binaries import WHEEL, Install
from tare.dbms.servers.copies import copied, copied_file, within
from tare.dbms.servers.owner import Owner, can_read


def binaries_for(owner: Owner, install: Install) -> Path:
    """The folder of programs to use: the install's own where the owner can read it."""
    if not install.wheel or can_read(owner, _needed(install.binaries)):
        return install.binaries
    return within(install, _shared(install))


def readable_by(owner: Owner, file: Path) -> Path:
    """The file itself where the owner can read it, else a copy. Raises ServerFailed."""
    if can_read(owner, [file]):
        return file
    return _once(file.stem, file, lambda to: copied_file(file, to)) / file.name


def _needed(binaries: Path) -> list[Path]:
    """Return a file of each kind: they were all installed under one umask."""
    tree = binaries.parent
    shared_libraries = tree.parent.with_name(f"{WHEEL}.libs")
    return [
        binaries / "postgres",
        binaries / "initdb",
        *sorted((tree / "share").rglob("postgres.bki"))[:1],
        *sorted((tree / "lib").rglob("plpgsql.so"))[:1],
        *sorted(shared_libraries.glob("*"))[:1],
    ]


def _shared(install: Install) -> Path:
    """The copy that all servers of this install use."""
    name = f"postgresql-{install.version}"
    return _once(name, install.binaries.parent, lambda to: copied(install, to), install.binaries / "postgres")


def _once(name: str, source: Path, copy: Callable[[Path], object], stamped: Path | None = None) -> Path:
    """The folder of a copy, made by the first that needs it. Another version of `stamped`, or else of the source, is
    another copy."""
    stamp = (stamped or source).stat()
    identity = f"{source}:{stamp.st_size}:{stamp.st_mtime_ns}"
    return cache.once(
        f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}",
        copy,
        what=f"the copy of {source}",
        next_step="free space there, or install the environment where every user may enter",
    )
