"""Waiting until a thread rests, so that its counters are whole when they are read.

The kernel books run time at ticks and switches, and run-queue wait when the
thread is given a CPU. Read while it runs, its run time may be a scheduler tick
(1-10 ms) behind; read while it waits to run, its wait so far is still to come
and would be booked into the next QE.
"""

from __future__ import annotations

import time

PATIENCE_S = 0.1
_PAUSE_S = 0.0001


def settle(pid: int, tid: int) -> bool:
    """Waits until the thread sleeps, at most `PATIENCE_S`. False if it does not, or is gone."""
    until = time.monotonic() + PATIENCE_S
    while (state := _state(pid, tid)) != "S":
        if state is None or time.monotonic() > until:
            return False
        time.sleep(_PAUSE_S)
    return True


def _state(pid: int, tid: int) -> str | None:
    """The state letter of /proc; it follows the last parenthesis, since names may hold any."""
    try:
        with open(f"/proc/{pid}/task/{tid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split(maxsplit=1)[0].decode()
    except (OSError, IndexError):
        return None
