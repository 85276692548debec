"""Facts about one process from /proc, also at the instants when the kernel shows little."""

from __future__ import annotations

import os
import signal
import subprocess

from tare.dbms import local


def test_a_process_that_executes_a_program_has_arguments_and_is_alive() -> None:
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            os.execv("/bin/sleep", ["sleep", "60"])
        try:
            born = local.born_at(pid)
            arguments: list[str] = []
            while arguments != ["sleep", "60"]:
                arguments = local.command_line(pid)
                assert arguments[0], "the kernel shows none while the program is executed"
                assert local.is_alive(pid, born)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        assert local.command_line(pid) == []
        assert not local.is_alive(pid, born)


def test_a_zombie_has_no_arguments_and_is_not_alive() -> None:
    child = subprocess.Popen(["true"])
    born = local.born_at(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert local.command_line(child.pid) == [""]
    assert not local.is_alive(child.pid, born)
    child.wait(10)
