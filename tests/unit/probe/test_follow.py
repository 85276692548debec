"""A followed thread's time adds up, and the trace knows when it missed something."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from tare._probe import Probe, ProbeError, Timeline
from tests.unit.probe.children import SPIN, burn, running, threaded, threads_of


def total(line: Timeline) -> int:
    return line.on_cpu_ns + line.run_queue_ns + line.sleep_ns + line.block_io_ns + line.other_wait_ns


def trusted(bpf: Probe, tids: list[int], seconds: float) -> list[Timeline]:
    """Some kernels drop a switch now and then, and the trace says so; not five times in a row."""
    for _ in range(5):
        follower = bpf.follow(tids)
        time.sleep(seconds)
        lines = follower.read()
        follower.stop()
        if all(line.trusted for line in lines):
            return lines
    pytest.fail(f"five traces in a row lost a switch: {[(t.switch_ins, t.slices) for t in lines]}")


def test_the_parts_add_up_to_the_elapsed_time_to_the_nanosecond(bpf: Probe) -> None:
    with running(["/bin/sh", "-c", SPIN]) as busy, running(["sleep", "600"]) as idle:
        follower = bpf.follow([busy, idle, os.getpid()])
        for _ in range(50):
            time.sleep(0.002)
            for line in follower.read():
                assert total(line) == line.as_of_ns - line.followed_ns
                assert line.alive
        follower.stop()


def test_a_sleeper_sleeps_and_a_hog_runs_or_waits_to_run(bpf: Probe) -> None:
    with running(["/bin/sh", "-c", SPIN]) as busy, running(["sleep", "600"]) as idle:
        time.sleep(0.05)
        hog, sleeper = trusted(bpf, [busy, idle], 0.2)
    assert (sleeper.state, sleeper.switch_ins, sleeper.slices) == ("sleep", 0, 0)
    assert sleeper.sleep_ns == sleeper.as_of_ns - sleeper.followed_ns >= 200_000_000
    assert hog.state in ("on_cpu", "run_queue")
    assert hog.sleep_ns == hog.block_io_ns == 0


def test_our_own_burning_and_sleeping_are_told_apart(bpf: Probe) -> None:
    for _ in range(5):
        follower = bpf.follow([os.getpid()])
        burn(0.05)
        began = time.monotonic_ns()
        time.sleep(0.05)
        slept_ns = time.monotonic_ns() - began
        (line,) = follower.read()
        follower.stop()
        if line.trusted:
            break
    assert line.state == "on_cpu"
    assert line.on_cpu_ns >= 49_000_000
    assert 49_000_000 <= line.sleep_ns <= slept_ns
    assert line.switch_ins == line.slices >= 1


def test_a_stopped_process_waits_otherwise(bpf: Probe) -> None:
    with running(["/bin/sh", "-c", SPIN]) as pid:
        os.kill(pid, 19)
        follower = bpf.follow([pid])
        time.sleep(0.05)
        (line,) = follower.read()
        follower.stop()
    assert line.state == "other_wait"
    assert line.other_wait_ns > 0


def test_a_thread_that_ends_keeps_its_last_timeline(bpf: Probe) -> None:
    for _ in range(5):  # a kernel that drops a switch now and then does not do it five times in a row
        child = subprocess.Popen(["/bin/sh", "-c", SPIN])
        follower = bpf.follow([child.pid])
        time.sleep(0.02)
        child.kill()
        child.wait()
        until = time.monotonic() + 10
        while (first := follower.read()[0]).alive and time.monotonic() < until:
            time.sleep(0.005)  # its last switch comes after its parent is told
        (again,) = follower.read()
        follower.stop()
        if first.trusted:
            break
    assert first.trusted
    assert not first.alive
    assert total(first) == first.as_of_ns - first.followed_ns
    assert first.as_of_ns == again.as_of_ns


def test_threads_of_one_process_are_followed_one_by_one(bpf: Probe) -> None:
    with running(threaded(), ready=True) as pid:
        tids = threads_of(pid)
        lines = bpf.follow(tids).read()
    assert [line.tid for line in lines] == tids
    assert {line.state for line in lines} == {"sleep"}


def test_a_thread_that_is_not_there_is_named(bpf: Probe) -> None:
    with running(["sleep", "600"]) as pid:
        pass
    with pytest.raises(ProbeError, match=f"thread {pid} cannot be followed"):
        bpf.follow([pid])


def test_only_the_bpf_tier_can_follow() -> None:
    with pytest.raises(ProbeError, match="procfs tier"):
        Probe("procfs").follow([os.getpid()])
