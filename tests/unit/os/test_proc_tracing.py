"""Without a trace, windows come from /proc and still add up."""

from __future__ import annotations

import os
import time

import pytest

from tare.os.calls import OUTSIDE
from tare.os.checks import check
from tare.os.levels import Level
from tare.os.nodes import Node
from tare.os.proc_tracing import ProcTracing
from tare.os.tracing import window


def test_times_of_an_own_process_add_up() -> None:
    with ProcTracing([Node("self", (os.getpid(),))]) as tracing:
        before = tracing.begin()
        until = time.process_time() + 0.05
        while time.process_time() < until:
            os.getppid()
        time.sleep(0.05)
        found = window(before, tracing.end())
    sums = found.sums.calls[1, os.getpid(), OUTSIDE]
    threads = len(before.later[os.getpid()].threads)
    assert sums.total_ns == pytest.approx(found.sums.elapsed_ns * threads, rel=0.05)
    assert sums.on_cpu_ns >= 45_000_000
    assert found.sums.counts[1, os.getpid()]["read_call_bytes"] >= 0
    assert "python" in found.titles[os.getpid()]


def test_nothing_is_checked_against_itself() -> None:
    with ProcTracing([Node("self", (os.getpid(),))]) as tracing:
        found = window(tracing.begin(), tracing.end())
    assert check([found], Level.PROC, closed=False) == []
