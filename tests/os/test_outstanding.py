"""Block requests, reads and page faults that are in flight when a window ends are counted in one window."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tare.measure.settle import settle
from tare.os.instrument import Instrument, open_instrument
from tare.os.level import Level
from tare.os.record import Disk, PageCache, Window
from tare.os.roles import Roles
from tare.os.subject import of_processes
from tests.os.held_disk import LIMIT_S, HeldDisk, held_disk

MB = 1 << 20
READER = f"""
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
mapped = mmap.mmap(file, 16 * {MB}, mmap.MAP_SHARED, mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
acts = dict(
    ahead=lambda: os.posix_fadvise(file, 4 * {MB}, {MB}, os.POSIX_FADV_WILLNEED),
    again=lambda: os.pread(file, {MB}, 4 * {MB}),
    read=lambda: os.pread(file, 4096, 8 * {MB}),
    fault=lambda: mapped[12 * {MB}],
)
print("ready", flush=True)
for line in sys.stdin:
    acts[line.strip()]()
    print("done", flush=True)
"""
"""Does as it is told with a disk: starts to read ahead and does not wait, reads that again, reads a page, maps one."""


@dataclass
class Reader:
    process: subprocess.Popen[str]
    disk: HeldDisk
    instrument: Instrument

    def start(self, act: str) -> None:
        print(act, file=self.process.stdin, flush=True)

    def wait(self) -> None:
        """Wait until the act is done and the process rests."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "done\n"
        while not settle(self.process.pid, self.process.pid):
            assert self.process.poll() is None

    def end(self) -> Window:
        return self.instrument.end("window", 0, "")[0]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeldDisk]:
    try:
        with held_disk(tmp_path_factory.mktemp("disk")) as disk:
            yield disk
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be made here: {error}")


@pytest.fixture(params=[Level.LIGHT, Level.FULL])
def reader(request: pytest.FixtureRequest, disk: HeldDisk, full: Level) -> Iterator[Reader]:
    """A program at rest, at the start of a window, on a disk that answers no read."""
    level: Level = request.param
    with _started(disk) as process:
        instrument = open_instrument(of_processes([process.pid]), Roles.of(None), level)
        try:
            disk.hold()
            instrument.begin()
            yield Reader(process, disk, instrument)
        finally:
            disk.release()
            instrument.stop()


@contextmanager
def _started(disk: HeldDisk) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", READER, disk.device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while not settle(process.pid, process.pid):
            assert process.poll() is None
        yield process
        process.stdin.close()


def test_requests_in_flight_are_waited_for_and_belong_to_the_window_of_their_submission(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.os.instrument.PATIENCE_S", LIMIT_S)
    reader.start("ahead")
    reader.wait()
    reader.disk.wait_for_a_read()
    threading.Timer(0.2, reader.disk.release).start()
    first, second = reader.end(), reader.end()
    disk = first.total().disk
    assert disk is not None
    assert disk.read_bytes == first.total().kept.read_bytes == MB
    assert disk.outstanding == 0
    assert first.io_busy_ns
    assert (second.total().disk, second.total().kept.read_bytes) == (Disk(), 0)


def test_requests_that_are_not_done_in_time_are_counted_as_outstanding_and_in_no_later_window(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.os.instrument.PATIENCE_S", 0.0)
    reader.start("ahead")
    reader.wait()
    reader.disk.wait_for_a_read()
    first, second = reader.end(), reader.end()
    reader.disk.release()
    reader.start("again")
    reader.wait()
    third = reader.end()
    disk = first.total().disk
    assert disk is not None
    assert disk.outstanding > 0
    assert disk == Disk(outstanding=disk.outstanding)
    assert first.total().kept.read_bytes == MB
    assert (second.total().disk, third.total().disk) == (Disk(), Disk())
    assert second.io_busy_ns == second.read_ns
    assert first.io_busy_ns
    assert third.io_busy_ns


@pytest.mark.parametrize("act", ["read", "fault"])
def test_pages_of_a_read_or_fault_in_progress_are_in_the_window_in_which_it_ends(
    act: str, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.os.instrument.PATIENCE_S", 0.0)
    reader.start(act)
    reader.disk.wait_for_a_read()
    first = reader.end().total()
    reader.disk.release()
    reader.wait()
    second = reader.end().total()
    in_flight = 0 if reader.instrument.level is Level.FULL else None
    assert first.kept.read_bytes == 4096
    assert first.cache == PageCache(in_flight=in_flight)
    if act == "read":
        assert second.cache == PageCache(reads=1, requested=1, missed=1, in_flight=in_flight)
    else:
        assert second.cache == PageCache(mapped=1, in_flight=in_flight)
    assert first.times.residue_ns == second.times.residue_ns == 0


@pytest.mark.parametrize("reader", [Level.FULL], indirect=True)
def test_a_call_in_progress_has_its_time_in_both_windows_and_is_counted_where_it_returns(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.os.instrument.PATIENCE_S", 0.0)
    reader.start("read")
    reader.disk.wait_for_a_read()
    while not (first := reader.end().total()).times.block_io_ns:
        assert reader.process.poll() is None
    reader.disk.release()
    reader.wait()
    second = reader.end().total()
    assert first.calls is not None
    assert second.calls is not None
    assert (first.calls["pread64"].count, second.calls["pread64"].count) == (0, 1)
    assert second.calls["pread64"].bytes == 4096
    for window in (first, second):
        assert window.calls is not None
        assert 0 < window.calls["pread64"].block_io_ns <= (window.times.block_io_ns or 0)
        for part in ("sleep_ns", "block_io_ns"):
            assert sum(getattr(call, part) for call in window.calls.values()) <= getattr(window.times, part)
