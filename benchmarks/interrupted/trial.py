"""Trial of an interrupted command: when it is gone, and what it leaves behind."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.steps import sysctl_path
from tare.measure.machine.settings import DELAY_ACCOUNTING, journal_directory

GONE_S = 5.0
"""A command that is interrupted ends within this time."""

NOW_S = 3.0
"""The next command has the lock within this time."""

_SIGNALS = (
    (signal.SIGINT,),
    (signal.SIGTERM,),
    (signal.SIGINT, signal.SIGINT),
    (signal.SIGTERM, signal.SIGTERM),
    (signal.SIGKILL,),
)
_APART_S = 0.4
_KILLED_S = 30.0
_LEFT_S = 3.0  # its guardian and its children end by themselves
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER (linux/prctl.h)


@dataclass
class End:
    """End of one command."""

    command: str
    at_s: float
    signals: tuple[str, ...]
    gone_s: float
    code: int
    hung: bool = False
    died: bool = False
    left: list[str] = field(default_factory=list)
    said: str = ""

    @property
    def is_clean(self) -> bool:
        return not (self.hung or self.died or self.left)


def signals(draw: random.Random) -> tuple[signal.Signals, ...]:
    """Signals of one trial: one, or two, of a kind."""
    return draw.choice(_SIGNALS)


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for file in found for pid in file.read_text().split()}


def interrupt(
    name: str,
    words: Sequence[str],
    at_s: float,
    signals: Sequence[signal.Signals],
    restored: Callable[[], str],
    own: Collection[int],
) -> End | None:
    """Starts a command and sends it `signals`, `_APART_S` apart. None if it had ended by itself.

    `restored` returns what is not as it was; `own` are children that stay."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tare", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(at_s)
            return None
        sent = time.monotonic()
        for number in signals:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_APART_S)
        end = End(name, at_s, tuple(number.name for number in signals), 0.0, 0)
        try:
            process.wait(max(0.0, sent + GONE_S - time.monotonic()))
        except subprocess.TimeoutExpired:
            end.hung = True
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_KILLED_S)
            process.kill()
            process.wait()
        end.gone_s = time.monotonic() - sent
        end.code = process.returncode
        said.seek(0)
        end.said = said.read().decode(errors="replace")
    end.died = end.code in (-signal.SIGABRT, -signal.SIGSEGV)
    end.left = left_behind(process.pid, restored, own)
    return end


def left_behind(pid: int, restored: Callable[[], str], own: Collection[int]) -> list[str]:
    """Names what is not as before within a few seconds. Ends the processes that are left."""
    until = time.monotonic() + _LEFT_S
    while (found := _left(pid, restored, own)) and time.monotonic() < until:
        time.sleep(0.02)
    for orphan in children() - set(own):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)
    return found


def _left(pid: int, restored: Callable[[], str], own: Collection[int]) -> list[str]:
    found = [f"left {journal.name}" for journal in journal_directory().glob(f"run-{pid}-*.journal")]
    found += [text] if (text := restored()) else []
    for orphan in children() - set(own):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(orphan, os.WNOHANG)[0] == 0:
                found.append(f"left {tasks.name(orphan)} running")
    return found


def lock_is_free() -> str:
    """Text for a lock of the machine's settings that is held for a second; empty: it is free."""
    until = time.monotonic() + 1.0
    with (journal_directory() / "lock").open("a") as file:
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.005)
            else:
                return ""
    return "the lock of the machine's settings is held"


def delay_accounting(before: str) -> str:
    """Whether delay accounting differs although no run holds it."""
    now = sysctl_path(DELAY_ACCOUNTING).read_text().strip()
    held = any(journal_directory().glob("run-*.journal"))
    return "" if now == before or held else f"{DELAY_ACCOUNTING} = {now}"
