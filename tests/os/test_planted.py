"""A program whose calls, bytes, cache hits and messages are known is traced to the last one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.errors import PrivilegeMissing
from tare.os.calls import OUTSIDE, numbers
from tare.os.checks import Agreement, Quantity, check
from tare.os.levels import Level
from tare.os.messages import multicast, parse
from tare.os.nodes import Node, node_of_process
from tare.os.sums import CallSum
from tare.os.tracing import Tracing, Window, window

pytestmark = [pytest.mark.bpf, pytest.mark.root]

PAGE = 4096
PAGES = 256


@pytest.fixture(autouse=True)
def _needs_tracing() -> None:
    try:
        with Tracing([Node("self", (os.getpid(),))], Level.LIGHT):
            pass
    except PrivilegeMissing as error:
        pytest.skip(f"nothing can be traced here: {error.what}")


@contextmanager
def program(body: str, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Runs `prepare()`, then each time a line comes `work()`, and answers with a line."""
    text = textwrap.dedent(body) + textwrap.dedent("""
        state = prepare(*sys.argv[1:])
        print("ready", flush=True)
        for line in sys.stdin:
            work(state)
            print("done", flush=True)
        """)
    command = [sys.executable, "-c", "import os, socket, sys\n" + text, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()


def work(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


def traced(process: subprocess.Popen[str], level: Level = Level.FULL) -> Window:
    with Tracing([node_of_process("program", process.pid)], level) as tracing:
        before = tracing.begin()
        work(process)
        return window(before, tracing.end())


def calls(found: Window, name: str) -> CallSum:
    wanted = numbers((name,))
    return sum((sums for (_, _, call), sums in found.sums.calls.items() if call in wanted), CallSum())


def counts(found: Window) -> dict[str, int]:
    whole: dict[str, int] = {}
    for named in found.sums.counts.values():
        for name, n in named.items():
            whole[name] = whole.get(name, 0) + n
    return whole


READER = """
    def prepare(file):
        return os.open(file, os.O_RDONLY)

    def work(file):
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        for page in range(256):
            os.pread(file, 4096, page * 4096)
        for _ in range(33):
            try:
                os.stat("/nowhere")
            except OSError:
                pass
"""


def file_of(folder: Path) -> Path:
    """Written and out of the cache."""
    file = folder / "data"
    with file.open("wb") as out:
        out.write(os.urandom(PAGES * PAGE))
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return file


def test_calls_bytes_and_errors_are_exact(tmp_path: Path) -> None:
    with program(READER, file_of(tmp_path)) as process:
        found = traced(process)
    assert calls(found, "pread64").count == PAGES
    assert calls(found, "pread64").bytes == PAGES * PAGE
    failed = [sums for sums in (calls(found, "stat"), calls(found, "newfstatat")) if sums.count]
    assert [(sums.count, sums.errors) for sums in failed] == [(33, 33)]
    assert found.sums.is_whole


def test_each_page_is_missing_once_and_ready_the_second_time(tmp_path: Path) -> None:
    with program(READER, file_of(tmp_path)) as process:
        cold, warm = counts(traced(process)), counts(traced(process))
    if not cold["block_reads"]:
        pytest.skip("temporary files are in memory here")
    assert cold["pages_requested"] == cold["pages_missed"] == PAGES
    assert (cold["reads_missed"], cold["reads_ready"]) == (PAGES, 0)
    assert cold["block_read_bytes"] == PAGES * PAGE, "random access: nothing is read ahead"
    assert (warm["reads_missed"], warm["reads_ready"]) == (0, PAGES)
    assert warm["block_reads"] == 0


def test_the_trace_agrees_with_the_kernels_counters(tmp_path: Path) -> None:
    with program(READER, file_of(tmp_path)) as process:
        found = traced(process)
    checks = {one.quantity: one for one in check([found], Level.FULL, closed=False)}
    for quantity in (Quantity.ELAPSED, Quantity.READ_CALLS, Quantity.READ_BYTES):
        assert checks[quantity].agreement is Agreement.AGREES, checks[quantity]
    if checks[Quantity.DISK_BYTES].traced:
        assert checks[Quantity.DISK_BYTES].agreement is Agreement.AGREES
        assert checks[Quantity.CACHED_BYTES].agreement is Agreement.AGREES


FORKING = """
    def prepare():
        return None

    def work(state):
        child = os.fork()
        if not child:
            for _ in range(1000):
                os.getppid()
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_a_child_belongs_to_its_parents_node_and_has_a_command_line() -> None:
    with program(FORKING) as process:
        found = traced(process)
    assert calls(found, "getppid").count == 1000
    children = {pid for (_, pid, _) in found.sums.calls} - {process.pid}
    assert len(children) == 1
    assert "python" in found.titles[children.pop()], "from the moment of its end"


def test_without_system_calls_times_still_add_up(tmp_path: Path) -> None:
    with program(READER, file_of(tmp_path)) as process:
        found = traced(process, Level.LIGHT)
    assert {call for (_, _, call) in found.sums.calls} == {OUTSIDE}
    spent = sum(sums.total_ns for sums in found.sums.calls.values())
    assert spent == pytest.approx(found.sums.elapsed_ns, rel=0.01)
    assert counts(found)["pages_requested"] == PAGES


SENDER = """
    def prepare(*places):
        return [socket.create_connection(place.split(":")) for place in places]

    def work(sockets):
        for number in range(40):
            for one in sockets:
                one.sendall(b"large %06d" % number * 50)
        for number in range(25):
            sockets[0].sendall(b"only here %d" % number)
        for one in sockets:
            one.sendmsg([b"two", b" parts"])
"""


def test_repeated_messages_are_found_by_their_whole_payload() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.2", 0)) as second:
        places = ["{}:{}".format(*server.getsockname()) for server in (first, second)]
        with program(SENDER, *places) as process:
            found = traced(process, Level.MESSAGES)
    sent = parse(found.messages)
    assert len(sent) == counts(found)["sends"] == 40 * 2 + 25 + 2
    assert int(sent["bytes"].sum()) == counts(found)["sent_bytes"]
    judged = multicast([sent])
    assert (judged.large.messages, judged.large.saved_messages) == (80, 40)
    assert judged.large.saved_bytes == 40 * 12 * 50
    assert (judged.small.messages, judged.small.saved_messages) == (27, 1)
    assert found.sums.lost["messages"] == 0
