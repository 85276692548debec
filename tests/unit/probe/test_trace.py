"""A trace of processes that do known things says what they did."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tare._probe import ProbeError, Recording, ThreadParts, Tracer, Weighed
from tests.unit.probe.children import PAUSE, SPIN, running, threaded, threads_of

MS = 1_000_000

READ_DIRECT = """
import mmap, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
buffer = mmap.mmap(-1, 1 << 16)
for block in range(64):
    os.preadv(descriptor, [buffer], block << 16)
"""


@pytest.fixture(autouse=True)
def _bpf() -> None:
    try:
        Tracer([os.getpid()]).stop()
    except ProbeError as error:
        pytest.skip(str(error))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """4 MiB on disk, none of it in memory."""
    path = tmp_path / "data"
    with path.open("wb") as handle:
        handle.write(os.urandom(4 << 20))
        os.fsync(handle.fileno())
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def traced(act: Callable[[], object], *processes: int) -> tuple[Recording, int, int]:
    """Recording of these processes (of this one, where none is named) around `act`, and the interval of `act`."""
    tracer = Tracer(list(processes) or [os.getpid()])
    begin = time.monotonic_ns()
    act()
    end = time.monotonic_ns()
    return tracer.finish(), begin, end


def believed(act: Callable[[], object], *processes: int) -> Weighed:
    """A trace of `act` that nothing speaks against: an event may be lost, not five times in a row."""
    for _ in range(5):
        recording, begin, end = traced(act, *processes)
        weighed = recording.weigh(begin, end, list(processes) or [os.getpid()])
        for thread in weighed.threads:
            assert total(thread) == thread.present_ns <= end - begin
        if not weighed.why:
            return weighed
    pytest.fail(f"five traces in a row were not whole: {weighed.why}")


def total(thread: ThreadParts) -> int:
    waits = thread.sleep_ns + thread.block_io_ns + thread.other_wait_ns
    return thread.on_cpu_ns + thread.run_queue_ns + waits


def one(weighed: Weighed, tid: int) -> ThreadParts:
    return next(thread for thread in weighed.threads if thread.tid == tid)


def test_a_spinner_runs_or_waits_to_run_and_never_sleeps() -> None:
    with running(["/bin/sh", "-c", SPIN]) as pid:
        time.sleep(0.05)
        spinner = one(believed(lambda: time.sleep(0.2), pid), pid)
    assert spinner.on_cpu_ns + spinner.run_queue_ns == spinner.present_ns >= 200 * MS
    assert spinner.switch_ins == spinner.slices


def test_a_sleeper_sleeps_all_the_time_and_makes_no_event() -> None:
    with running(["sleep", "600"]) as pid:
        time.sleep(0.05)
        sleeper = one(believed(lambda: time.sleep(0.1), pid), pid)
    assert sleeper.sleep_ns == sleeper.present_ns >= 100 * MS
    assert sleeper.switch_ins == sleeper.slices == 0


def test_a_sleep_of_ours_is_as_long_as_we_asked_for() -> None:
    lasted_ns = 0

    def sleep() -> None:
        nonlocal lasted_ns
        began = time.monotonic_ns()
        time.sleep(0.1)
        lasted_ns = time.monotonic_ns() - began

    ours = one(believed(sleep), os.getpid())
    assert 100 * MS <= ours.sleep_ns <= lasted_ns
    assert ours.switch_ins == ours.slices >= 1


def test_a_stopped_process_waits_for_nothing_that_we_know() -> None:
    with running(["/bin/sh", "-c", PAUSE], ready=True) as pid:
        stopped = one(believed(lambda: time.sleep(0.05), pid), pid)
    assert stopped.other_wait_ns == stopped.present_ns


def test_a_direct_read_is_a_childs_own_request_and_it_waits_while_that_is_in_flight(file: Path) -> None:
    children: list[int] = []

    def read() -> None:
        child = subprocess.Popen([sys.executable, "-c", READ_DIRECT, str(file)])
        children.append(child.pid)
        assert child.wait() == 0

    for _ in range(5):
        recording, begin, end = traced(read)
        weighed = recording.weigh(begin, end, [children[-1]])
        if not weighed.why:
            break
    assert weighed.why == []
    assert weighed.disk.bytes >= 4 << 20, "the child is traced though it was forked only then"
    assert weighed.disk.requests >= 64
    reader = one(weighed, children[-1])
    assert 0 < reader.block_io_ns <= reader.present_ns
    assert reader.own_io_ns >= 0.9 * reader.block_io_ns
    assert 0 < weighed.disk.in_flight_ns <= weighed.disk.outstanding_ns <= end - begin
    assert recording.weigh(begin, end, [os.getpid()]).disk.requests == 0, "it asked, not we"


def test_requests_of_processes_that_were_not_chosen_are_somebody_elses(file: Path) -> None:
    recording, begin, end = traced(
        lambda: subprocess.run([sys.executable, "-c", READ_DIRECT, str(file)], check=True, timeout=60)
    )
    ours = recording.weigh(begin, end, [os.getpid()]).disk
    assert ours.requests == 0
    assert ours.others_requests >= 64
    assert ours.others_ns > 0


def test_write_back_is_the_kernels_and_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "written"

    def write_and_let_the_kernel_sync() -> None:
        path.write_bytes(os.urandom(8 << 20))
        os.sync()

    recording, begin, end = traced(write_and_let_the_kernel_sync)
    disk = recording.weigh(begin, end, [os.getpid()]).disk
    assert disk.kernel_requests > 0
    assert disk.kernel_requests <= disk.others_requests


def test_all_threads_of_a_process_are_traced() -> None:
    with running(threaded(), ready=True) as pid:
        weighed = believed(lambda: time.sleep(0.02), pid)
        assert sorted(thread.tid for thread in weighed.threads) == threads_of(pid)
    assert {thread.tgid for thread in weighed.threads} == {pid}


def test_an_idle_cpu_idles_and_a_busy_one_does_not() -> None:
    """A CPU on which nothing switches is in no record: so something short runs beside the busy process."""
    cpu = min(os.sched_getaffinity(0))

    def disturbed() -> None:
        time.sleep(0.05)
        subprocess.run(["taskset", "-c", str(cpu), "true"], check=True, timeout=60)
        time.sleep(0.05)

    with running(["taskset", "-c", str(cpu), "/bin/sh", "-c", SPIN]) as pid:
        time.sleep(0.05)
        recording, begin, end = traced(disturbed, pid)
        found = {parts.cpu: parts for parts in recording.weigh(begin, end, [pid]).cpus}
    busy = found[cpu]
    assert busy.idle_ns + busy.unknown_ns <= 0.1 * (end - begin)
    for parts in found.values():
        assert parts.iowait_ns <= parts.idle_ns <= end - begin
        assert parts.own_disk_ns <= parts.iowait_ns


def test_an_interval_outside_the_recording_is_rejected() -> None:
    recording, begin, end = traced(lambda: time.sleep(0.01))
    ours = [os.getpid()]
    assert "not traced from its beginning" in recording.weigh(begin - 1000 * MS, end, ours).why[0]
    assert "not traced from its beginning" in recording.weigh(begin, end + 1000 * MS, ours).why[0]


def test_a_process_that_was_not_traced_is_not_taken_for_one_that_did_nothing() -> None:
    with running(["sleep", "600"]) as pid:
        recording, begin, end = traced(lambda: time.sleep(0.01))
        assert recording.weigh(begin, end, [pid]).why == ["no thread of the chosen processes was seen"]


def test_a_trace_ends_once() -> None:
    tracer = Tracer([os.getpid()])
    tracer.finish()
    with pytest.raises(ProbeError, match="the trace is closed"):
        tracer.finish()
