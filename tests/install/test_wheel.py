"""The wheel of `scripts/wheels`, installed as a user does it: a fresh environment, no compiler, an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NOBODY = 65534
BUILD_TOOLS = ("cc", "gcc", "clang", "cargo", "rustc", "make", "pkg-config", "git")


@dataclass(frozen=True)
class Installed:
    folder: Path
    user: int | None

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with nothing else in PATH."""
        programs = self.folder / "venv" / "bin"
        program, *arguments = words
        return subprocess.run(
            [str(programs / program), *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=self.folder / "work",
            env={"PATH": str(programs), "HOME": str(self.folder / "work"), "COLUMNS": "100"},
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
        )


def wheel() -> Path:
    """The wheel, where one was built from these sources. Skips the test otherwise."""
    built = sorted(ROOT.glob("target/wheels/tare_db-*-manylinux_*.whl"))
    if not built:
        pytest.skip("NO WHEEL IS TESTED: there is none in target/wheels; run scripts/wheels")
    with zipfile.ZipFile(built[-1]) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    sources = {
        str(file.relative_to(ROOT / "python")): file.read_bytes() for file in ROOT.glob("python/tare/**/*.py")
    }
    if packed != sources:
        pytest.skip("NO WHEEL IS TESTED: the one in target/wheels is of other sources; run scripts/wheels")
    return built[-1]


@cache
def interpreter(version: str) -> Path | None:
    """An interpreter of that version: the system's, pyenv's, or one in PATH."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places = [
        Path(f"/usr/bin/python{version}"),
        *sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}")),
        *map(Path, filter(None, [shutil.which(f"python{version}")])),
    ]
    for place in places:
        if place.exists():
            script = "import sys, venv, ensurepip; print(sys.executable)"
            done = subprocess.run([place, "-c", script], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return Path(done.stdout.strip()).resolve()
    return None


def may_be_run_by_anyone(program: Path) -> bool:
    return all(place.stat().st_mode & stat.S_IXOTH for place in (program, *program.parents))


@pytest.fixture(scope="module", params=VERSIONS)
def installed(request: pytest.FixtureRequest) -> Iterator[Installed]:
    file = wheel()
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param} here")
    folder = Path(tempfile.mkdtemp(prefix="tare-install-"))  # pytest's folders are closed to other users
    try:
        folder.chmod(0o755)
        (folder / "work").mkdir()
        user = NOBODY if os.geteuid() == 0 and may_be_run_by_anyone(python) else None
        if user is not None:
            os.chown(folder / "work", user, user)
        subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python"),
                *("install", "--disable-pip-version-check", "-q", "--only-binary", ":all:", file),
            ],
            check=True,
            env={**os.environ, "PATH": str(folder / "venv" / "bin")},
        )
        yield Installed(folder, user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_no_tool_that_builds_is_in_reach(installed: Installed) -> None:
    path = str(installed.folder / "venv" / "bin")
    assert not [tool for tool in BUILD_TOOLS if shutil.which(tool, path=path)]


def test_it_measures_a_query(installed: Installed) -> None:
    with sqlite3.connect(installed.folder / "work" / "x.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    done = installed.run(
        "tare",
        "time",
        "SELECT 1",
        "--db",
        "sqlite:///x.db",
        "--runs",
        "6",
        "--html",
        "x.html",
        "--json",
        "x.json",
    )
    assert done.returncode == 0, done.stderr
    assert "of CPU" in done.stdout
    assert "vegaEmbed" in (installed.folder / "work" / "x.html").read_text()


def test_doctor_reports_what_this_user_can_measure(installed: Installed) -> None:
    done = installed.run("tare", "doctor", "--json")
    assert done.returncode == 0, done.stderr
    tiers = {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert tiers["tier procfs"]["status"] == "good"
    assert "this build" not in tiers["tier bpf"]["observed"], "the wheel has the BPF tier"


def test_each_of_its_names_starts_it(installed: Installed) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for words in (("tare", "--version"), ("tare-db", "--version"), ("python", "-m", "tare", "--version")):
        done = installed.run(*words)
        assert (done.returncode, done.stdout) == (0, f"tare {version}\n"), done.stderr


def test_a_missing_extra_is_named(installed: Installed) -> None:
    done = installed.run("tare", "report", "e1")
    assert done.returncode == 2
    assert "pip install 'tare-db[report]'" in done.stderr


def test_the_wheel_has_what_the_build_makes() -> None:
    with zipfile.ZipFile(wheel()) as archive:
        names = set(archive.namelist())
    assert {"tare/_probe.abi3.so", "tare/libtare_agent.so", "tare/report/kit/charts.js"} <= names
    assert any(name.startswith("tare_db.libs/libelf") for name in names)
    assert any(name.endswith("licenses/NOTICE") for name in names)
