"""Snapshots follow processes as they come, change and go."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading

import pytest

from tare._probe import Probe, ProbeError, read_process
from tests.unit.probe.children import PAUSE, SPIN, running

PR_SET_NAME = 15


def pids(probe: Probe) -> set[int]:
    return {process.pid for process in probe.processes().processes()}


def test_a_new_process_is_seen_and_one_that_ended_is_not(probe: Probe) -> None:
    before = pids(probe)
    with running(["sleep", "600"]) as pid:
        assert pid not in before
        assert pid in pids(probe)
    assert pid not in pids(probe)


def test_as_many_rows_as_the_length_says_and_ourselves_among_them(probe: Probe) -> None:
    snapshot = probe.processes()
    rows = snapshot.processes()
    assert len(rows) == len(snapshot)
    assert [row.cmdline for row in rows if row.pid == os.getpid()] == [read_process(os.getpid()).cmdline]
    assert snapshot.started_ns < snapshot.ended_ns
    assert snapshot.tier == probe.tier


def test_the_command_line_of_a_process_that_has_ended_since_is_kept(probe: Probe) -> None:
    with running(["/bin/sh", "-c", PAUSE], ready=True) as pid:
        snapshot = probe.processes()
    (row,) = [row for row in snapshot.processes() if row.pid == pid]
    assert row.cmdline == f"/bin/sh -c {PAUSE}"


@pytest.mark.parametrize("name", ["a b", ") S 1 (", "a\nb", "(("])
def test_names_with_spaces_parentheses_and_newlines(probe: Probe, name: str) -> None:
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
        os.kill(os.getpid(), 19)
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    try:
        (row,) = [row for row in probe.processes().processes() if row.pid == pid]
        assert (row.comm, row.ppid) == (name, os.getpid())
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def test_no_counter_of_a_busy_process_runs_backwards(probe: Probe) -> None:
    with running(["/bin/sh", "-c", SPIN]) as pid:
        last: dict[str, int] = {}
        for _ in range(200):
            (row,) = [row for row in probe.processes().processes() if row.pid == pid]
            now = {
                name: value
                for name, value in row.as_dict().items()
                if name.endswith("_ns") and value is not None
            }
            assert all(isinstance(value, int) and value >= last.get(name, 0) for name, value in now.items())
            last = {name: value for name, value in now.items() if isinstance(value, int)}
        assert last["user_ns"] + last["system_ns"] == last["run_ns"]


def test_processes_that_vanish_meanwhile_do_no_harm(probe: Probe) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            subprocess.run(["/bin/true"], check=True, timeout=60)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(100):
            snapshot = probe.processes()
            rows = snapshot.processes()
            assert len(rows) == len(snapshot)
            assert os.getpid() in {row.pid for row in rows}
    finally:
        stop.set()
        thread.join()


def test_a_forked_child_can_go_on_with_its_parents_probe(probe: Probe) -> None:
    probe.processes()
    pid = os.fork()
    if pid == 0:
        try:
            found = {process.pid for process in probe.processes().processes()}
            os._exit(0 if {os.getpid(), os.getppid()} <= found else 2)
        finally:
            os._exit(1)
    mine = [probe.processes() for _ in range(20)]
    assert os.waitpid(pid, 0)[1] == 0
    assert all(os.getpid() in {process.pid for process in snapshot.processes()} for snapshot in mine)


def test_kernel_threads_are_marked_and_have_no_command_line(probe: Probe) -> None:
    kernel = [row for row in probe.processes().processes() if row.kernel]
    if not kernel:
        pytest.skip("no kernel thread can be seen from here (a PID namespace?)")
    assert all(row.cmdline == "" for row in kernel)
    assert not any(row.kernel for row in probe.processes().processes() if row.pid == os.getpid())


def test_a_process_that_ended_or_a_thread_that_is_none_cannot_be_read() -> None:
    with running(["sleep", "600"]) as pid:
        assert read_process(pid).comm == "sleep"
        with pytest.raises(ProbeError, match=f"thread 1 of process {pid} has ended"):
            read_process(pid, 1)
    with pytest.raises(ProbeError, match=f"process {pid} has ended"):
        read_process(pid)


def test_the_machine_has_all_its_cpus_and_its_counts_grow() -> None:
    probe = Probe("procfs")
    before = probe.machine()
    subprocess.run(["/bin/true"], check=True, timeout=60)
    after = probe.machine()
    assert [cpu.cpu for cpu in after.cpus] == sorted(os.sched_getaffinity(1))
    assert after.total.cpu == -1
    assert after.taken_ns > before.taken_ns
    assert after.forks > before.forks
    assert after.context_switches > before.context_switches
    assert after.total.as_dict()["user"] == after.total.user
