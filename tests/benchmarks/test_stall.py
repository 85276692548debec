"""A server that a benchmark stops stands still as a whole, and goes on whatever happens."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest
from benchmarks.oltp_stall import standing_still

from tests.servers import own_server


def settled(pid: int, stopped: bool) -> bool:
    """A signal takes a moment to arrive."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if (state == "T") == stopped:
            return True
        time.sleep(0.01)
    return False


def fail_while_it_stands_still(leader: int, pids: list[int]) -> None:
    with standing_still(leader):
        assert all(settled(pid, stopped=True) for pid in pids)
        raise ZeroDivisionError


def test_every_process_is_stopped_within_and_runs_again_after_an_error() -> None:
    with own_server("postgresql") as server, psycopg.connect(server.url, autocommit=True) as connection:
        pids = [server.pid, connection.info.backend_pid]
        with pytest.raises(ZeroDivisionError):
            fail_while_it_stands_still(server.pid, pids)
        assert all(settled(pid, stopped=False) for pid in pids)
        assert connection.execute("SELECT 1").fetchone() == (1,)
