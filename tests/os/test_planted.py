"""A program with known demands: what it asks of the kernel is counted exactly."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare._probe import evict
from tare.measure.settle import settle
from tare.os.instrument import open_instrument
from tare.os.level import Level
from tare.os.record import Call, PageCache, RoleCounts, Sockets, Window, summed
from tare.os.roles import Roles
from tare.os.subject import of_processes

PAGE = 4096
READ_BYTES = (10 + 256 + 5) * PAGE
"""Bytes of its file that the program brings in: by single pages, by one long read, by page faults."""
SENT = 3 * 1000 + 305 + 1
"""Bytes to each of two receivers."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Command of the program, with a file of 16 MiB that is on the disk."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("planted")
    program, data = folder / "planted", folder / "data"
    source = Path(__file__).with_name("planted.c")
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-o", program, source], check=True, timeout=60)
    with data.open("wb") as file:
        file.write(bytes(range(256)) * (16 << 12))
    subprocess.run(["sync", data], check=True, timeout=60)
    return [str(program), str(data)]


def observed(command: list[str], level: Level) -> Window:
    """Counts of the program's work at a level."""
    evict(command[1:])
    with _waiting(command) as program:
        instrument = open_instrument(of_processes([program.pid]), Roles.of(None), level)
        try:
            instrument.begin()
            _let_work(program)
            window, _ = instrument.end("planted", 0, "")
        finally:
            instrument.stop()
    assert not window.lost
    assert not instrument.absent
    return window


@contextmanager
def _waiting(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.read(1) == b"r"
            _rest(program)
            yield program
        finally:
            program.kill()


def _rest(program: subprocess.Popen[bytes]) -> None:
    """Wait until the program waits in a read that no window counts, with its last call behind it."""
    while not settle(program.pid, program.pid):
        assert program.poll() is None


def _let_work(program: subprocess.Popen[bytes]) -> None:
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(b"x")
    program.stdin.flush()
    assert program.stdout.read(1) == b"x"
    _rest(program)


@pytest.mark.parametrize("level", [Level.LIGHT, Level.FULL, Level.MESSAGES])
def test_pages_and_bytes_are_counted_exactly(planted: list[str], level: Level) -> None:
    total = observed(planted, level).total()
    in_flight = None if level is Level.LIGHT else 0
    assert total.threads == 2
    assert total.cache == PageCache(
        reads=21, requested=276, missed=266, in_flight=in_flight, ahead=0, mapped=5
    )
    assert total.disk is not None
    assert total.disk.read_bytes == total.kept.read_bytes == READ_BYTES
    # The long read is one request, or several where the file system keeps its pages in several places.
    assert dict(total.disk.read_sizes.buckets)[12] >= 15
    assert total.disk.reads >= 16
    assert total.sockets == Sockets(
        sends=10,
        sent_bytes=2 * SENT,
        receives=2,
        received_bytes=2 * SENT,
        local_sends=4,
        local_sent_bytes=400,
        local_receives=4,
        local_received_bytes=400,
    )


def test_calls_are_counted_exactly_those_of_a_child_too(planted: list[str]) -> None:
    window = observed(planted, Level.FULL)
    calls = window.total().calls
    assert calls is not None
    counted = {name: (call.count, call.errors, call.bytes) for name, call in calls.items()}
    # The waiting read of its go-ahead began before the window, and is not among the calls.
    expected = {
        "pread64": (28, 7, 20 * PAGE + (1 << 20)),
        "sendto": (6, 0, 6000),
        "writev": (2, 0, 610),
        "write": (7, 0, 2 + 400 + 1),
        "recvfrom": (2, 0, 2 * SENT),
        "read": (4, 0, 400),
        "getppid": (9, 0, 0),
        "clock_nanosleep": (2, 0, 0),
        "wait4": (1, 0, 0),
    }
    assert {name: counted[name] for name in expected} == expected
    assert calls["clock_nanosleep"].sleep_ns >= 70_000_000
    assert calls["pread64"].block_io_ns > 0


@pytest.mark.parametrize("level", [Level.LIGHT, Level.FULL])
def test_times_add_up_and_agree_with_the_scheduler(planted: list[str], level: Level) -> None:
    window = observed(planted, level)
    for counts in window.roles:
        assert counts.times.residue_ns == 0
    total = window.total()
    ours = total.times.on_cpu_ns + (total.times.run_queue_ns or 0)
    theirs = (total.kept.run_ns or 0) + (total.kept.run_delay_ns or 0)
    # The scheduler books the way from a wake-up to the CPU as CPU time: microseconds for each switch.
    assert abs(ours - theirs) < 0.01 * theirs + 100_000 * (total.kept.voluntary + total.kept.involuntary)
    if level is Level.FULL:
        assert _in_calls(total) <= (total.times.system_ns or 0) <= total.times.on_cpu_ns


def _in_calls(total: RoleCounts) -> int:
    return sum(call.on_cpu_ns for call in (total.calls or {}).values())


def test_messages_are_recorded_with_equal_hashes_for_equal_contents(planted: list[str]) -> None:
    messages = observed(planted, Level.MESSAGES).messages
    assert [message.bytes for message in messages] == [1000] * 6 + [305] * 2 + [1] * 2
    assert len({message.receiver for message in messages}) == 2
    hashes = [message.hash for message in messages]
    assert None not in hashes
    assert hashes[0:8:2] == hashes[1:8:2]
    assert len(set(hashes)) == 6
    assert [message.head for message in messages[-2:]] == ["61", "62"]


def test_windows_add_up(planted: list[str]) -> None:
    evict(planted[1:])
    with _waiting(planted) as program:
        instrument = open_instrument(of_processes([program.pid]), Roles.of(None), Level.FULL)
        try:
            instrument.begin()
            first, _ = instrument.end("before", 0, "")
            _let_work(program)
            second, _ = instrument.end("during", 0, "")
            third, _ = instrument.end("after", 0, "")
        finally:
            instrument.stop()
    assert third.total().cache == PageCache()
    assert second.total().cache != PageCache()
    whole = summed([first.total(), second.total(), third.total()])
    assert whole.times.residue_ns == 0
    assert (whole.calls or {}).get("getppid", Call()).count == 9
