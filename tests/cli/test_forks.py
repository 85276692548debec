"""The commands of these tests run in forks of a process that has Tare loaded: they say what a real start says."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.forks import READ_LATE, Forks
from tests.cli.running import environment, start_python, tare
from tests.cli.started import Started


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    forks = Forks(environment())
    yield forks
    forks.close()


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
    under_way = forks.start(words, environment())
    assert under_way.communicate(timeout=60) == (started.out, started.err)
    assert under_way.returncode == started.code


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


def once(statement: str) -> list[str]:
    """Words of Python's own `timeit`, which executes the statement."""
    return ["-n1", "-r1", statement]


def begin(forks: Forks, statement: str) -> Started:
    return forks.start(once(f"import os, signal, sys, time; {statement}"), environment(), "timeit")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_a_signal_ends_has_its_number_as_exit_code(
    number: signal.Signals, forks: Forks
) -> None:
    command = begin(forks, "print('there', flush=True); time.sleep(60)")
    assert command.stdout is not None
    assert command.stdout.readline() == "there\n"
    assert command.poll() is None
    command.send_signal(number)
    assert command.wait(60) == command.poll() == -number
    command.kill()
    assert command.communicate(timeout=60) == ("", "")


def test_streams_are_read_at_once_and_time_outs_lose_nothing(forks: Forks, tmp_path: Path) -> None:
    full, done = 200_000, tmp_path / "done"  # bytes, more than a pipe takes
    command = begin(
        forks,
        f"sys.stderr.write('e' * {full}); sys.stdout.write('o' * {full}); sys.stdout.flush(); "
        f"open({str(done)!r}, 'w'); time.sleep(60)",
    )
    while not done.exists():
        with pytest.raises(subprocess.TimeoutExpired):
            command.communicate(timeout=0.01)
    command.kill()
    both = command.communicate(timeout=60)
    assert [len(text) for text in both] == [full, full]
    assert command.communicate(timeout=60) == both


def test_standard_error_goes_to_a_file_where_one_is_given(forks: Forks, tmp_path: Path) -> None:
    with (tmp_path / "err").open("w") as file:
        command = forks.start(["no-such-command"], environment(), stderr=file)
    assert command.communicate(timeout=60) == ("", "")
    assert command.returncode == 2
    assert "no-such-command" in (tmp_path / "err").read_text()


def test_a_fork_has_a_programs_signals_group_and_descriptors(forks: Forks) -> None:
    statement = (
        "import os, signal, sys, time; "
        "print([signal.getsignal(number) for number in signal.valid_signals()]); "
        "print([line for line in open('/proc/self/status') if line[:4] in ('SigB', 'SigI', 'SigC')]); "
        "print(os.getpgrp(), os.getsid(0)); "
        "print([os.readlink(f'/proc/self/fd/{one}').split(':')[0] for one in (0, 1, 2)]); "
        "print([one for one in os.scandir('/proc/self/fd') if int(one.name) > 2 and 'socket' in os.readlink(one)]); "
        "sys.stdout.flush(); os._exit(7)"
    )
    beside = begin(forks, "time.sleep(60)")
    command = forks.start(once(statement), environment(), "timeit")
    program = start_python(*once(statement), program="timeit")
    assert command.communicate(timeout=60) == program.communicate(timeout=60)
    assert command.returncode == program.returncode == 7
    beside.kill()


def test_commands_under_way_end_with_who_began_them(forks: Forks) -> None:
    command = begin(forks, "time.sleep(60)")
    process = os.pidfd_open(command.pid)
    forks.close()
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    assert ended


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
