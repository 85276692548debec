"""The commands of these tests run in forks of a process that has Tare loaded: they say what a real start says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.forks import READ_LATE, Forks
from tests.cli.running import environment, tare


@pytest.fixture(scope="module")
def forks() -> Forks:
    return Forks(environment())


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["lab", "--help"],
        ["no-such-command"],
        ["experiment", "status", "1", "--lab", "/nonexistent/lab.db"],
        ["time", "SELECT 1", "--db", "sqlite:///nonexistent/x.db"],
    ],
)
def test_a_fork_says_and_ends_as_a_program_does(words: list[str], forks: Forks) -> None:
    started = tare(*words, TERM="another")  # an environment of its own is a start of its own
    assert forks.run(words, environment(), 60) == (started.code, started.out, started.err)


def test_a_fork_works_in_the_folder_of_its_caller(
    forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = forks.run(["data", "wisconsin", "--rows", "1000", "--to", "here"], environment(), 60)
    assert code == 0, err
    assert (tmp_path / "here").is_dir()


def test_what_takes_too_long_is_killed_and_the_next_command_runs(forks: Forks, sqlite_url: str) -> None:
    endless = "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s"
    with pytest.raises(subprocess.TimeoutExpired):
        forks.run(["time", endless, "--db", sqlite_url], environment(), 2)
    for _ in range(2):
        assert forks.run(["--version"], environment(), 60)[0] == 0


def test_another_environment_needs_a_start_of_its_own(forks: Forks) -> None:
    assert forks.serves(environment())
    assert forks.serves({**environment(), "PYTEST_CURRENT_TEST": "another"})
    assert forks.serves(environment(PGSERVICEFILE="another")), "libpq reads it when it connects"
    assert not forks.serves(environment(TERM="another"))
    assert not forks.serves({name: value for name, value in os.environ.items() if name != "PATH"})


def test_no_module_reads_what_is_read_late_when_it_is_loaded() -> None:
    source = """
import os

from tests.cli import forks

read = os._Environ.__getitem__

def noted(self, name):
    print(name)
    return read(self, name)

os._Environ.__getitem__ = noted
forks.load()
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, check=True
    )
    names = set(done.stdout.split())
    assert "HOME" in names
    assert not names & READ_LATE
