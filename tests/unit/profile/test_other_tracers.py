"""A debugger is found by what the kernel reports of the process. Other tracers' probes: `tests/profile`."""

from __future__ import annotations

import ctypes
import os
import subprocess

from tare.profile.other_tracers import OtherTracers, breakpoints, debugger

PTRACE_SEIZE = 0x4206


def test_a_debugger_is_found_once() -> None:
    with subprocess.Popen(["sleep", "60"]) as traced:
        others = OtherTracers(traced.pid)
        try:
            assert debugger(traced.pid) == 0
            assert others.look() == []
            assert ctypes.CDLL(None).ptrace(PTRACE_SEIZE, traced.pid, 0, 0) == 0
            assert debugger(traced.pid) == os.getpid()
            [sentence] = others.look()
            assert f"process {os.getpid()} traces process {traced.pid}" in sentence
            assert others.look() == []
        finally:
            traced.kill()


def test_a_process_that_has_ended_has_no_tracer() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert OtherTracers(ended.pid).look() == []


def test_the_text_of_this_process_is_its_files() -> None:
    assert breakpoints(os.getpid()) == 0
