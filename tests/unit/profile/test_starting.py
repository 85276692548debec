"""Programs and loads that a profile starts."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tare.dbms.servers import cache
from tare.errors import ServerFailed, TareError, UsageError, WatchedServerEnded
from tare.lab.profile_about import Failure, FailureKind, Probes
from tare.profile import conduct, launch, told
from tare.profile.load import Load

WAITING = told.Waiting(2.0)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="there is no program no-such-server"):
        launch.program(["no-such-server", "-D", "x"])


def test_a_script_is_told_from_a_program(tmp_path: Path) -> None:
    script = tmp_path / "start"
    script.write_text("#!/bin/sh\nexec postgres\n")
    script.chmod(0o755)
    with pytest.raises(UsageError, match="is a script"):
        launch.program([str(script)])


def test_a_user_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="there is no such user"):
        launch.user("nobody-of-that-name")
    assert launch.user(None) is None


def test_a_load_runs_within_the_block_and_all_that_it_started_ends_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with Load(f"echo $$ >> {pids}; sleep 60 & echo $! >> {pids}; wait"):
        while not pids.exists() or len(pids.read_text().split()) < 2:
            time.sleep(0.01)
        alive = [int(one) for one in pids.read_text().split()]
        assert all(Path(f"/proc/{pid}").exists() for pid in alive)
    time.sleep(0.1)
    assert not [pid for pid in alive if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_load_that_ended_is_started_again_while_no_transaction_came(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with Load(f"echo 1 >> {runs}; exit 1") as load:
        for number in range(3):
            while not runs.exists() or len(runs.read_text().split()) <= number:
                time.sleep(0.01)
            time.sleep(0.1)
            load.hear(WAITING)
    assert len(runs.read_text().split()) >= 3


def test_a_load_that_fails_for_good_says_what_it_said() -> None:
    with Load("echo cannot connect >&2; exit 3") as load:
        time.sleep(0.3)
        with pytest.raises(UsageError, match="exit code 3: cannot connect"):
            load.hear(told.Waiting(31.0))


def test_without_a_load_nothing_is_started() -> None:
    with Load(None) as load:
        load.hear(WAITING)
    with pytest.raises(UsageError, match="names no command"):
        Load("  ")
    assert os.getpid()


def test_only_an_agents_memory_is_ever_removed(tmp_path: Path) -> None:
    mine, others = Path("/dev/shm/tare-agent-of-a-test"), tmp_path / "tare-agent-x"
    for folder in (mine, others):
        folder.mkdir()
        launch.forget(str(folder))
    launch.forget("")
    assert not mine.exists()
    assert others.exists()


@pytest.mark.parametrize(
    ("code", "error"), [(2, ServerFailed), (-11, WatchedServerEnded), (None, WatchedServerEnded)]
)
def test_a_program_that_exits_before_a_function_is_timed_did_not_run_however_late_that_is_seen(
    code: int | None, error: type[TareError]
) -> None:
    made = SimpleNamespace(stopped_by=None, ended="the server ended")
    subject = SimpleNamespace(exit_code=lambda: code, shown="postgres -D x")
    failure = Failure(
        kind=FailureKind.SERVER_ENDED, process=7, process_name="postgres", probes=Probes.MARKERS
    )
    with pytest.raises(error, match="exit code 2" if code == 2 else "before a function was timed"):
        conduct._nothing(made, subject, failure)  # type: ignore[arg-type]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs programs as another user")
def test_a_user_who_cannot_enter_the_environment_runs_with_a_copy_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    shutil.copy(launch.library(), closed)
    monkeypatch.setattr(launch, "files", lambda _: closed)
    monkeypatch.setattr(cache, "ROOT", tmp_path / "cache")
    nobody = launch.user("nobody")
    with launch.launched(["sleep", "60"], "agent", nobody) as sleeping:
        maps = Path(f"/proc/{sleeping.pid}/maps")
        while "/libc.so" not in maps.read_text():
            time.sleep(0.001)
        copies = [*(tmp_path / "cache").glob(f"*/{launch.LIBRARY}")]
        assert str(copies[0]) in maps.read_text(), "it is loaded before the C library"
    assert launch.library(nobody) == copies[0]
    assert closed.stat().st_mode & 0o777 == 0o700
