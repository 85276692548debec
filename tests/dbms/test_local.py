"""Facts about one process from /proc, also at the instants when the kernel shows little."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time

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


def test_a_handler_of_a_signal_is_seen() -> None:
    before = signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    try:
        assert not local.catches(os.getpid(), signal.SIGUSR2)
        signal.signal(signal.SIGUSR2, lambda *_: None)
        assert local.catches(os.getpid(), signal.SIGUSR2)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert not local.catches(2**22 + 1, signal.SIGUSR2)  # no such process


def test_threads_are_found_by_where_they_sleep() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(60.0)  # then Python waits in poll
    waiting = threading.Thread(target=ours.recv, args=(1,))
    waiting.start()
    until = time.monotonic() + 30
    while waiting.native_id not in local.threads_in(os.getpid(), "poll"):
        assert time.monotonic() < until, "the thread does not wait in poll"
    assert os.getpid() not in local.threads_in(os.getpid(), "poll")  # this thread runs
    theirs.send(b".")
    waiting.join()
    assert waiting.native_id not in local.threads_in(os.getpid(), "poll")
    for end in (ours, theirs):
        end.close()
