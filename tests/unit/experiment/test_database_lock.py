"""A database is one run's at a time, and nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from tare.errors import DatabaseInUse
from tare.experiment.target import DatabaseLock


def test_a_second_run_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    first = DatabaseLock(tmp_path, "sqlite:///f.db", "lite")
    with pytest.raises(DatabaseInUse, match=r"lite \(sqlite:///f\.db\)"):
        DatabaseLock(tmp_path, "sqlite:///f.db", "lite")
    DatabaseLock(tmp_path, "sqlite:///other.db", "lite").release()
    first.release()
    DatabaseLock(tmp_path, "sqlite:///f.db", "lite").release()


def test_no_file_stays_behind(tmp_path: Path) -> None:
    DatabaseLock(tmp_path, "sqlite:///f.db", "lite").release()
    assert list(tmp_path.iterdir()) == []


def hold(folder: Path, said: str) -> None:
    DatabaseLock(folder, "sqlite:///f.db", "lite")
    Path(said).touch()
    time.sleep(60)


def test_a_killed_run_holds_nothing(tmp_path: Path) -> None:
    said, folder = tmp_path / "held", tmp_path / "locks"
    folder.mkdir()
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(folder, str(said)))
    process.start()
    assert process.pid
    while not said.exists():
        assert process.is_alive()
        time.sleep(0.01)
    with pytest.raises(DatabaseInUse):
        DatabaseLock(folder, "sqlite:///f.db", "lite")
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    DatabaseLock(folder, "sqlite:///f.db", "lite").release()
    assert list(folder.iterdir()) == []


def take_turns(folder: Path, counter: Path, times: int) -> None:
    done = 0
    while done < times:
        try:
            lock = DatabaseLock(folder, "sqlite:///f.db", "lite")
        except DatabaseInUse:
            continue
        counter.write_text(str(int(counter.read_text()) + 1))
        done += 1
        lock.release()


def test_runs_that_come_and_go_all_the_time_never_have_it_together(tmp_path: Path) -> None:
    """Taking the file away with the lock must not give two runs a lock each."""
    folder, counter = tmp_path / "locks", tmp_path / "counter"
    folder.mkdir()
    counter.write_text("0")
    several = [
        multiprocessing.get_context("fork").Process(target=take_turns, args=(folder, counter, 300))
        for _ in range(3)
    ]
    for process in several:
        process.start()
    for process in several:
        process.join()
    assert [process.exitcode for process in several] == [0, 0, 0]
    assert counter.read_text() == "900"
