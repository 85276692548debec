"""Every task that ends leaves a record, whichever way it is listened for."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tare._probe import TICK_NS, Exit, ExitListener, Probe, ProbeError
from tests.unit.probe.children import interrupted_ns, schedstat, zombie

FORKS = 500
# Rewrites the memory of its own arguments, as servers do that tell what they are doing.
RETITLED = """
import ctypes
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[45]), int(fields[46])
title = b"server: worker for PID 1"
ctypes.memmove(start, title.ljust(end - start, b"\\0"), end - start)
"""


def of(exits: list[Exit], pid: int) -> Exit:
    (found,) = [exit for exit in exits if exit.process.pid == pid]
    return found


def test_every_one_of_many_short_processes_leaves_one_record(listener: ExitListener) -> None:
    shell = subprocess.Popen(["/bin/sh", "-c", f"i=0; while [ $i -lt {FORKS} ]; do (:); i=$((i+1)); done"])
    assert shell.wait() == 0
    exits = listener.drain()
    assert sum(exit.process.ppid == shell.pid for exit in exits) == FORKS
    assert listener.lost() == 0
    births = listener.births()
    assert births is None or births >= FORKS + 1
    assert [exit.process.pid for exit in listener.drain()].count(shell.pid) == 0


def test_the_record_tells_who_ended_how_and_when(listener: ExitListener) -> None:
    before = time.monotonic_ns()
    child = subprocess.Popen(["/bin/sh", "-c", "exit 7"])
    child.wait()
    exit = of(listener.drain(), child.pid)
    assert exit.last_of_group
    assert os.waitstatus_to_exitcode(exit.exit_code) == 7
    assert before < exit.ended_ns < time.monotonic_ns()
    assert (exit.process.comm, exit.process.tgid, exit.process.ppid) == ("sh", child.pid, os.getpid())
    assert exit.process.uid == os.getuid()
    assert exit.process.read_calls is not None


def test_a_thread_that_ends_is_not_its_process(listener: ExitListener) -> None:
    code = "import threading\nt = threading.Thread(target=lambda: None)\nt.start(); t.join()"
    child = subprocess.Popen([sys.executable, "-c", code])
    child.wait()
    ended = [exit for exit in listener.drain() if exit.process.tgid == child.pid]
    # Which of the two goes last is the kernel's affair: a thread is joined a little before it ends.
    assert sorted(exit.last_of_group for exit in ended) == [False, True]
    assert len({exit.process.pid for exit in ended}) == 2
    assert child.pid in {exit.process.pid for exit in ended}


def test_the_run_time_is_what_the_kernel_booked_in_the_end(listener: ExitListener) -> None:
    # A shell, not a fork of pytest: giving pytest's memory back takes the kernel longer than the burning.
    loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    before = interrupted_ns()
    with zombie(lambda: os.execv("/bin/sh", ["sh", "-c", loop])) as pid:
        booked = schedstat(str(pid))[0]
        interrupted = interrupted_ns() - before
        run_ns = of(listener.drain(), pid).process.run_ns
    assert run_ns is not None
    # What the kernel does after the record (giving memory back, above all) is not in it; taskstats reads what
    # was booked at the last tick.
    slack = 5e6 if listener.how == "bpf" else 15e6
    # What interrupts took since it was last given a CPU is in the record, and not in what was booked.
    assert booked - slack < run_ns <= booked + 1e6 + interrupted + TICK_NS


def test_a_process_shorter_than_a_tick_has_a_run_time(listener: ExitListener) -> None:
    began = time.monotonic_ns()
    shell = subprocess.Popen(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do (:); done"])
    shell.wait()
    lasted_ns = time.monotonic_ns() - began
    ended = [exit.process for exit in listener.drain() if exit.process.ppid == shell.pid]
    assert len(ended) == 10
    run_ns = [process.run_ns or 0 for process in ended]
    assert min(run_ns) > 5_000
    assert sum(run_ns) < lasted_ns, "they run one after the other"


def test_a_title_that_was_rewritten_is_in_the_record() -> None:
    try:
        probe = Probe("bpf")
    except ProbeError as error:
        pytest.skip(str(error))
    listener = probe.listen()
    child = subprocess.Popen([sys.executable, "-c", RETITLED])
    child.wait()
    title = of(listener.drain(), child.pid).process.cmdline
    listener.stop()
    if not title and tuple(map(int, os.uname().release.split(".")[:2])) < (6, 16):
        pytest.skip("before Linux 6.16 a task's memory is gone when its end is told")
    assert title == "server: worker for PID 1"


def test_the_start_time_names_the_same_life_as_a_snapshot(listener: ExitListener) -> None:
    child = subprocess.Popen(["sleep", "600"])
    probe = Probe(listener.how)
    (alive,) = [row for row in probe.processes().processes() if row.pid == child.pid]
    killed_ns = time.monotonic_ns()
    child.kill()
    child.wait()
    exit = of(listener.drain(), child.pid)
    delay_ns = time.monotonic_ns() - killed_ns
    if listener.how == "bpf":
        assert exit.process.start_ns == alive.start_ns
    else:  # reckoned from its age on receipt
        assert abs(exit.process.start_ns - alive.start_ns) <= delay_ns + TICK_NS


def test_a_stopped_listener_keeps_its_counts_and_gives_no_records(listener: ExitListener) -> None:
    subprocess.run(["/bin/true"], check=True, timeout=60)
    listener.stop()
    listener.stop()
    assert listener.lost() == 0
    with pytest.raises(ProbeError, match="closed"):
        listener.drain()


def test_a_forked_child_leaves_its_parents_records_alone(listener: ExitListener) -> None:
    subprocess.run(["/bin/true"], check=True, timeout=60)
    pid = os.fork()
    if pid == 0:
        try:
            with pytest.raises(ProbeError, match="parent"):
                listener.drain()
            listener.stop()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    ended = [exit.process for exit in listener.drain()]
    assert pid in {process.pid for process in ended}
    assert "true" in {process.comm for process in ended}


def test_the_procfs_tier_cannot_listen_and_says_what_could() -> None:
    with pytest.raises(ProbeError, match="bpf or taskstats"):
        Probe("procfs").listen()
