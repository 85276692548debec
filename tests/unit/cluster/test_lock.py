"""Locks that processes inherit, and the ways to take one over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tare.cluster import lock

HOLD = """
import sys
from pathlib import Path
from tare.cluster import lock
held = lock.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_a_lock_is_taken_once(file: Path) -> None:
    with lock.take(file), pytest.raises(BlockingIOError):
        lock.take(file)
    lock.take(file).release()


def test_a_helper_that_inherited_it_keeps_it(file: Path) -> None:
    held = lock.take(file)
    helper = subprocess.Popen(["sleep", "600"], stdin=held.descriptor)
    try:
        held.release()
        with pytest.raises(BlockingIOError):
            lock.take(file)
        assert lock.holders(file) == [helper.pid]
        lock.take_over(file, 10).release()
        assert helper.wait(10) == -9
    finally:
        helper.kill()
        helper.wait()


def test_a_process_that_only_has_the_file_open_is_no_holder(file: Path) -> None:
    file.touch()
    with file.open() as opened:
        reader = subprocess.Popen(["sleep", "600"], stdin=opened)
    try:
        with lock.take_over(file, 10):
            assert reader.poll() is None
            assert lock.holders(file) == []
    finally:
        reader.kill()
        reader.wait()


def test_a_holder_in_another_process_is_killed(file: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        lock.take_over(file, 10).release()
        assert holder.wait(10) == -9


def test_a_file_that_went_meanwhile_is_no_lock(file: Path) -> None:
    with lock.take(file) as first:
        file.unlink()
        with lock.take(file) as second:
            assert os.fstat(first.descriptor).st_ino != os.fstat(second.descriptor).st_ino


def test_without_its_folder_there_is_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock.take(tmp_path / "gone" / "lock")
