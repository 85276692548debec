"""The lock of the machine's settings: never waited for by its own process, and never without a word."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tare.errors import SettingsBusy
from tare.interruption import Deferred
from tare.measure.machine import exclusive as waits
from tare.measure.machine.exclusive import exclusive
from tare.measure.machine.putback import lock as locks
from tare.measure.machine.putback.lock import lock_of, locked

HOLD = """
import sys
from pathlib import Path
from tare.measure.machine.putback.lock import locked
sys.argv = ["/usr/bin/tare", "compare", "--db", "postgresql://u:secret@h/d"]
with locked(Path(sys.stdin.readline().strip())):
    print("has it", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{tmp_path}\n")
    process.stdin.flush()
    assert process.stdout.readline() == "has it\n"
    yield process
    process.kill()
    process.communicate(timeout=60)


def is_free(directory: Path) -> bool:
    """Whether the lock is free, as another process sees it."""
    with (directory / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def interrupted_at(opcode: int, call: Callable[[], None]) -> bool:
    """Whether `call` reached so many instructions of the lock's code, where it was interrupted."""
    files = {locks.__file__, waits.__file__, contextlib.__file__}
    seen = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal seen
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == opcode:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
        Deferred.depth = 0  # a signal of ours would not have been raised there
    return False


def test_interrupted_at_any_instruction_it_locks_nobody_out(tmp_path: Path) -> None:
    def call() -> None:
        with exclusive(tmp_path), locked(tmp_path):
            pass

    opcode = 1
    while interrupted_at(opcode, call):
        with exclusive(tmp_path, limit_s=0.5):  # its own process, first
            assert not is_free(tmp_path)
        lock_of(tmp_path).drop()  # as every run does at its end
        assert is_free(tmp_path), f"instruction {opcode}"
        opcode += 1
    assert opcode > 200


def test_a_thread_may_take_it_again_and_others_take_turns(tmp_path: Path) -> None:
    inside = []

    def use() -> None:
        with locked(tmp_path), locked(tmp_path):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.01)
            inside.pop()

    threads = [threading.Thread(target=use) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert is_free(tmp_path)


def test_a_wait_names_the_holder_and_ends(
    holder: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    expected = rf"tare compare \(pid {holder.pid}\) since \d\d:\d\d:\d\d"
    with pytest.raises(SettingsBusy, match=expected) as busy, exclusive(tmp_path, limit_s=1.5):
        pass
    assert 1.5 <= time.monotonic() - began < 5
    assert "kill -CONT" in busy.value.next_step
    said = capsys.readouterr().err
    assert f"tare compare (pid {holder.pid}) since" in said
    assert "gives up after 1.5 s" in said
    assert "secret" not in said


def test_a_short_wait_says_nothing(
    holder: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    threading.Timer(0.3, holder.kill).start()
    with exclusive(tmp_path):
        pass
    assert capsys.readouterr().err == ""


def test_a_holder_that_died_is_not_named(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    assert lock_of(tmp_path).holder() is not None
    holder.kill()
    holder.wait()
    assert lock_of(tmp_path).holder() is None


def test_a_forked_child_does_not_keep_it(tmp_path: Path) -> None:
    with locked(tmp_path):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        assert is_free(tmp_path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
