"""Counts from /proc: of planted readings, and of a process that is really there."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tare._probe import TICK_NS
from tare.os import proc
from tare.os.counts import Counts
from tare.os.proc import ProcReader, ProcReading, ProcThread
from tare.os.record import RoleCounts, summed

IO = dict.fromkeys(("read_chars", "write_chars", "read_calls", "write_calls", "read_bytes", "write_bytes"), 0)
BEFORE = ProcThread(
    node=0,
    tid=5,
    tgid=5,
    comm="postgres",
    born_ticks=7,
    born_ns=70,
    user_ticks=10,
    system_ticks=2,
    run_ns=1000,
    run_delay_ns=50,
    minor_faults=3,
    major_faults=1,
    switches=(4, 5),
    io=IO,
)


def counted(before: list[ProcThread], after: list[ProcThread]) -> Counts:
    first, second = ProcReading(1_000_000, tuple(before)), ProcReading(3_000_000, tuple(after))
    return proc.count(first, second, ("a", "b"), lambda thread: thread.comm)


def only(before: ProcThread, **changes: Any) -> RoleCounts:
    (role,) = counted([before], [replace(before, **changes)]).roles
    return role


def test_a_thread_counts_from_the_first_reading() -> None:
    role = only(
        BEFORE, run_ns=1400, run_delay_ns=60, minor_faults=5, switches=(6, 5), io={**IO, "read_chars": 9}
    )
    assert (role.threads, role.times.present_ns) == (1, 2_000_000)
    assert (role.times.on_cpu_ns, role.times.run_queue_ns) == (400, 10)
    assert (role.times.sleep_ns, role.times.block_io_ns, role.times.residue_ns) == (None, None, None)
    assert (role.kept.run_ns, role.kept.minor_faults, role.kept.voluntary, role.kept.read_chars) == (
        400,
        2,
        2,
        9,
    )
    assert (role.calls, role.cache, role.disk, role.sockets) == (None, None, None, None)


def test_ticks_of_the_window_split_its_time_on_a_cpu() -> None:
    role = only(BEFORE, run_ns=1400, user_ticks=13, system_ticks=3)
    assert (role.times.system_ns, role.times.user_ns) == (100, 300)


def test_a_window_without_ticks_is_split_by_those_before() -> None:
    assert only(BEFORE, run_ns=1600).times.system_ns == 100


def test_without_any_tick_of_a_role_the_ticks_of_all_decide() -> None:
    idle = replace(BEFORE, tid=6, comm="walwriter", user_ticks=0, system_ticks=0)
    roles = counted([BEFORE, idle], [BEFORE, replace(idle, run_ns=1060)]).roles
    assert [role.times.system_ns for role in roles] == [0, 10]


def test_without_any_tick_the_split_is_unknown() -> None:
    idle = replace(BEFORE, user_ticks=0, system_ticks=0)
    assert only(idle, run_ns=1060).times.system_ns is None


def test_ticks_stand_for_run_time_where_the_kernel_keeps_none() -> None:
    role = only(replace(BEFORE, run_ns=None, run_delay_ns=None), user_ticks=12)
    assert (role.times.on_cpu_ns, role.times.run_queue_ns, role.kept.run_ns) == (2 * TICK_NS, None, None)


def test_io_that_is_hidden_is_none() -> None:
    role = only(replace(BEFORE, io=None))
    assert (role.kept.read_chars, role.kept.write_bytes) == (None, None)
    assert role.kept.minor_faults == 0


def test_a_thread_that_was_born_in_the_window_counts_from_its_birth() -> None:
    (role,) = counted([], [replace(BEFORE, born_ns=2_500_000)]).roles
    assert (role.times.present_ns, role.times.on_cpu_ns) == (500_000, 1000)


def test_an_id_that_is_used_again_is_another_thread() -> None:
    counts = counted([BEFORE], [replace(BEFORE, born_ticks=99, born_ns=2_500_000, run_ns=8)])
    assert counts.roles[0].times.on_cpu_ns == 8
    assert counts.notes == ("1 thread ended between two readings: /proc keeps no counts of these",)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10**9), st.integers(0, 99)), min_size=3, max_size=3)
)
def test_windows_that_follow_each_other_add_up(steps: list[tuple[int, int, int]]) -> None:
    threads = [BEFORE]
    for _, run_ns, faults in steps:
        latest = threads[-1]
        assert latest.run_ns is not None
        threads.append(
            replace(latest, run_ns=latest.run_ns + run_ns, minor_faults=latest.minor_faults + faults)
        )
    readings = [ProcReading(at * 1000, (thread,)) for at, thread in enumerate(threads)]

    def between(first: int, second: int) -> RoleCounts:
        return summed(proc.count(readings[first], readings[second], ("a",), lambda thread: "r").roles)

    whole, parts = between(0, 3), summed(between(at, at + 1) for at in range(3))
    assert whole.kept == parts.kept
    assert (whole.times.present_ns, whole.times.on_cpu_ns) == (parts.times.present_ns, parts.times.on_cpu_ns)


def test_packets_are_summed_over_interfaces() -> None:
    text = (
        "Inter-|   Receive                            |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
        "    lo: 100 7 0 0 0 0 0 0 100 7 0 0 0 0 0 0\n"
        "  eth0:9000 30 0 0 0 0 0 0 500 4 0 0 0 0 0 0\n"
    )
    assert proc._packets(text) == (37, 11)


def test_packets_of_a_namespace_count_once() -> None:
    with subprocess.Popen(["sleep", "60"]) as one, subprocess.Popen(["sleep", "60"]) as other:
        try:
            single, both = proc.packets([(one.pid,)]), proc.packets([(one.pid,), (other.pid, 4194305)])
            assert single is not None
            assert both is not None
            assert both[0] - single[0] < max(1000, single[0])
        finally:
            one.kill()
            other.kill()


def test_packets_of_processes_that_are_gone_are_unknown() -> None:
    assert proc.packets([(4194305,)]) is None


def test_a_busy_process_is_seen_with_the_children_that_it_forks() -> None:
    code = (
        "import subprocess, sys, time\n"
        "sys.stdin.readline()\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "until = time.process_time() + 0.2\n"
        "while time.process_time() < until: pass\n"
        "print('done', flush=True)\n"
        "sys.stdin.readline()\n"
        "child.kill()\n"
        "child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        reader = ProcReader([[process.pid]])
        first = reader.read()
        print(file=process.stdin, flush=True)
        process.stdout.readline()
        time.sleep(0.02)  # at rest, its run time is whole
        counts = proc.count(first, reader.read(), ("a",), lambda thread: thread.comm)
        print(file=process.stdin, flush=True)
    roles = {role.role: role for role in counts.roles}
    busy = summed(role for role in counts.roles if role.role != "sleep")
    assert 0.19e9 < busy.times.on_cpu_ns < 1e9
    assert "sleep" in roles
    assert roles["sleep"].times.present_ns <= counts.read_ns
