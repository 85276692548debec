"""Lock of a cluster, which its helpers inherit: while one of them lives, nothing of the cluster is taken apart."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from tare.dbms import local
from tare.errors import ServerFailed

_PAUSE_S = 0.005


class Lock:
    """Lock of a file (flock), held until `release` and until each process that inherited it has ended."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self.descriptor = path, descriptor

    def release(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def take(path: Path, wait_s: float = 0.0) -> Lock:
    """Take the lock. Raises BlockingIOError if another has it for longer, FileNotFoundError without its folder."""
    until = time.monotonic() + wait_s
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, descriptor):
                return Lock(path, descriptor)
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(descriptor)
                raise
            time.sleep(_PAUSE_S)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def take_over(path: Path, wait_s: float) -> Lock:
    """Take the lock, and kill who has it. Raises ServerFailed if they do not end, FileNotFoundError."""
    until = time.monotonic() + wait_s
    while True:
        with suppress(BlockingIOError):
            return take(path)
        for pid in holders(path):
            _kill(pid, path)
        if time.monotonic() > until:
            left = ", ".join(map(str, holders(path))) or "unknown"
            raise ServerFailed(
                f"processes that work on the cluster do not end within {wait_s:g} s of SIGKILL (PID {left})",
                "they wait for the kernel, e.g. for a disk: repeat the command later",
            )
        time.sleep(_PAUSE_S)


def holders(path: Path) -> list[int]:
    """Return the processes that hold the lock of this file, without those that only have it open."""
    return [pid for pid in local.processes() if pid != os.getpid() and _holds(pid, path)]


def _holds(pid: int, path: Path) -> bool:
    with suppress(OSError):
        lock = path.stat()
        for descriptor in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
            with suppress(OSError):
                found = Path(f"/proc/{pid}/fd/{descriptor}").stat()
                if os.path.samestat(found, lock):
                    about = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text()
                    if any(line.startswith("lock:") for line in about.splitlines()):
                        return True
    return False


def _kill(pid: int, path: Path) -> None:
    """Kill the process if it is still the one that holds the lock: ids are used again."""
    with suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            if _holds(pid, path):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        finally:
            os.close(process)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
