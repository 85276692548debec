"""A thread is read at rest, and waiting for it has an end."""

import os
import subprocess
import time
from pathlib import Path

from tare.measure.settle import PATIENCE_S, settle


def test_a_sleeper_is_at_rest_at_once() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        time.sleep(0.05)
        assert settle(child.pid, child.pid)
    finally:
        child.kill()
        child.wait()


def test_a_thread_that_goes_to_sleep_is_waited_for() -> None:
    child = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exec sleep 60"])
    try:
        while "sleep" not in Path(f"/proc/{child.pid}/comm").read_text():
            settle(child.pid, child.pid)
        assert settle(child.pid, child.pid)
    finally:
        child.kill()
        child.wait()


def test_patience_with_a_busy_thread_has_an_end() -> None:
    begin = time.monotonic()
    assert not settle(os.getpid(), os.getpid())  # we run while we look
    assert PATIENCE_S <= time.monotonic() - begin < 10 * PATIENCE_S


def test_a_thread_that_is_gone_is_not_waited_for() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert not settle(child.pid, child.pid)
