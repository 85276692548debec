"""Hand-made readings, shaped as the probe's: the input of the arithmetic, not a stand-in for a kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tare.measure.differences import COUNTERS

MS = 1_000_000


def process(pid: int = 10, **given: Any) -> Any:
    base: dict[str, Any] = dict.fromkeys(COUNTERS, 0)
    base |= {
        "pid": pid, "tgid": pid, "ppid": 1, "comm": "p", "cmdline": "", "uid": 0, "start_ns": 0,
        "kernel": False, "threads": 1, "cpu": 0, "child_guest_ns": 0,
    }  # fmt: skip
    return SimpleNamespace(**(base | given))


def ended(pid: int = 10, *, last_of_group: bool = True, tgid: int | None = None, **given: Any) -> Any:
    return SimpleNamespace(
        process=process(pid, tgid=tgid or pid, **given), last_of_group=last_of_group, ended_ns=0, exit_code=0
    )


def timeline(as_of: int, *, state: str = "sleep", **given: int) -> Any:
    base: dict[str, Any] = {
        "on_cpu_ns": 0, "run_queue_ns": 0, "block_io_ns": 0, "sleep_ns": 0, "other_wait_ns": 0,
        "stolen_ns": 0, "interrupted_ns": 0, "since_ns": 0, "switch_ins": 5, "slices": 5,
    }  # fmt: skip
    return SimpleNamespace(**(base | given), as_of_ns=as_of, state=state)
