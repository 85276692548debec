"""Processes to look at: each does one known thing and ends with its test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tare._probe import TICK_NS

SPIN = "while :; do :; done"
PAUSE = "echo ready; kill -STOP $$; true"
# Burns CPU in the main thread, in one that lives on and in one that ends; then says so and sleeps.
THREADED = """
import sys, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))
def burn_and_stay():
    burn(0.06)
    burned.set()
    time.sleep(600)
burned = threading.Event()
threading.Thread(target=burn_and_stay, daemon=True).start()
ending = threading.Thread(target=burn, args=(0.15,))
ending.start(); ending.join(); burned.wait()
burn(0.05)
print("ready", flush=True)
time.sleep(600)
"""


@contextmanager
def running(arguments: Sequence[str], ready: bool = False) -> Iterator[int]:
    """A child's pid; with `ready`, after it has said so."""
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE if ready else None)
    try:
        if ready:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(0.02)  # it still has to fall asleep
        yield child.pid
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def threaded() -> list[str]:
    return [sys.executable, "-c", THREADED]


@contextmanager
def zombie(act: Callable[[], None]) -> Iterator[int]:
    """A forked child that has done `act` and ended, and is not waited for before the end of the block."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        finally:
            os._exit(3)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        yield pid
    finally:
        os.waitpid(pid, 0)


def schedstat(task: str) -> tuple[int, int, int]:
    """Run time, run-queue wait and slices of one thread, read plainly."""
    run, wait, slices = map(int, Path(f"/proc/{task}/schedstat").read_text().split()[:3])
    return run, wait, slices


def interrupted_ns() -> int:
    """Time that interrupts and other virtual machines have taken of all CPUs so far, to a tick."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(map(int, fields[6:9])) * TICK_NS


def threads_of(pid: int) -> list[int]:
    return sorted(int(folder.name) for folder in Path(f"/proc/{pid}/task").iterdir())


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
