"""The guardian: a small process that outlives the run and puts its machine settings back.

Standard input is the run's end of a pipe: a line asks for the undoing, end of file means
that the run is gone, however it went. It is watched by pidfd as well, since a process that
the run forked may keep the pipe open. Standard output answers: ``ready``, ``locked`` once it
may undo, then the results as JSON. The journal comes as an inherited, locked file.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from pathlib import Path

from .journal import Journal, undo_all
from .lock import locked

_IGNORED = ("INT", "TERM", "HUP", "QUIT", "PIPE", "TSTP", "TTIN", "TTOU", "USR1", "USR2", "ALRM")


def _wait_for_the_end(parent: int) -> None:
    waiting = select.poll()
    waiting.register(0, select.POLLIN | select.POLLHUP)
    with contextlib.suppress(OSError):  # no pidfd before Linux 5.3: the pipe alone, then
        waiting.register(os.pidfd_open(parent), select.POLLIN)
    if os.getppid() == parent:
        os.write(1, b"ready\n")
        waiting.poll()


def main() -> None:
    """Arguments: the run's pid, the journal's path and its file descriptor."""
    parent, path, fd = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    for name in _IGNORED:
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
    os.chdir("/")  # keep no file system busy
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text("tare-guardian")
    with contextlib.suppress(OSError):  # only root may ask to be spared by the OOM killer
        Path("/proc/self/oom_score_adj").write_text("-1000")
    _wait_for_the_end(parent)
    journal = Journal(path, fd)
    with locked(path.parent):  # without a limit: there is nobody else to do it
        with contextlib.suppress(OSError):
            os.write(1, b"locked\n")
        _, made = journal.read()
        results = undo_all(path, made)
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps([vars(result) for result in results]) + "\n").encode())
