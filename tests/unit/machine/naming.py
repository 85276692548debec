"""Waiting for a started program to have its own name: the kernel sets it a moment after exec."""

from __future__ import annotations

import time

from tare.measure.machine.putback import tasks


def until_named(pid: int, name: str) -> None:
    deadline = time.monotonic() + 5
    while tasks.name(pid) != name:
        assert time.monotonic() < deadline, f"{pid} is named {tasks.name(pid)!r}, not {name!r}"
        time.sleep(0.001)
