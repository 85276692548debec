"""Ends of processes, as the kernel reports them, and threads that get on or do not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tare.dbms.local import born_at
from tare.profile.health import Health, Progress
from tare.profile.reading import Reading
from tare.profile.server import Server

SEGV, CORE = 11, 0x80


@dataclass
class Task:
    pid: int
    tgid: int
    ppid: int = 1
    comm: str = "server"


@dataclass
class End:
    process: Task
    exit_code: int
    ended_ns: int
    last_of_group: bool = False


class Kernel:
    """Hands out ends of tasks, each once."""

    def __init__(self, *ends: End) -> None:
        self._ends = list(ends)

    def drain(self) -> list[End]:
        ends, self._ends = self._ends, []
        return ends


def health(server: Server, *ends: End) -> Health:
    kernel: Any = Kernel(*ends)
    return Health(server, kernel)


GONE = Server(4_000_000, 1, None, "")


def test_the_thread_that_ends_first_is_the_one_that_a_signal_hit() -> None:
    ends = [
        End(Task(4_000_000, 4_000_000), SEGV, 30, last_of_group=True),
        End(Task(4_000_002, 4_000_000), SEGV, 10),
        End(Task(4_000_001, 4_000_000), 0, 5),
    ]
    death = health(GONE, *ends).death()
    assert death is not None
    assert (death.whole, death.signal, death.exit_status, death.thread) == (True, SEGV, None, 4_000_002)


def test_where_a_core_is_dumped_the_thread_that_the_signal_hit_has_the_flag() -> None:
    ends = [
        End(Task(4_000_000, 4_000_000), SEGV, 10),
        End(Task(4_000_002, 4_000_000), SEGV | CORE, 20),
        End(Task(4_000_001, 4_000_000), SEGV, 30, last_of_group=True),
    ]
    death = health(GONE, *ends).death()
    assert death is not None
    assert (death.signal, death.thread, death.ended_ns) == (SEGV, 4_000_002, 20)


def test_where_several_threads_have_the_flag_the_thread_is_not_known() -> None:
    ends = [
        End(Task(4_000_000, 4_000_000), SEGV | CORE, 30, last_of_group=True),
        End(Task(4_000_002, 4_000_000), SEGV | CORE, 10),
    ]
    death = health(GONE, *ends).death()
    assert death is not None
    assert (death.signal, death.thread, death.ended_ns) == (SEGV, None, None)


def test_a_server_that_exits_has_its_status() -> None:
    death = health(GONE, End(Task(4_000_000, 4_000_000), 3 << 8, 1, last_of_group=True)).death()
    assert death is not None
    assert (death.signal, death.exit_status) == (None, 3)


def test_without_the_kernels_word_the_end_is_known_and_its_cause_is_not() -> None:
    death = Health(GONE, None).death()
    assert death is not None
    assert (death.whole, death.signal, death.exit_status) == (True, None, None)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def test_a_backend_that_dies_of_a_signal_counts_and_one_that_exits_does_not(
    sleeper: subprocess.Popen[bytes],
) -> None:
    server = Server(sleeper.pid, born_at(sleeper.pid), "postgresql", "18")
    quiet = health(server, End(Task(7, 7, sleeper.pid), 1 << 8, 1, last_of_group=True))
    assert quiet.healthy()
    assert quiet.death() is None
    shot = health(server, End(Task(7, 7, sleeper.pid, "postgres"), SEGV, 1, last_of_group=True))
    assert not shot.healthy()
    death = shot.death()
    assert death is not None
    assert (death.pid, death.name, death.whole, death.signal) == (7, "postgres", False, SEGV)


def test_a_process_of_somebody_else_does_not_count(sleeper: subprocess.Popen[bytes]) -> None:
    server = Server(sleeper.pid, born_at(sleeper.pid), "postgresql", "18")
    assert health(server, End(Task(7, 7, 1), SEGV, 1, last_of_group=True)).healthy()


STOPS = "import time\nfor _ in range(60): time.sleep(.005)\ntime.sleep(60)"


def test_a_process_whose_threads_stop_stands_still() -> None:
    with subprocess.Popen([sys.executable, "-c", STOPS]) as process:
        watched = Health(Server(process.pid, born_at(process.pid), None, ""), None)
        watched.begin()
        time.sleep(0.25)
        watched.settle()
        time.sleep(0.5)
        progress = watched.progress(0.5)
        assert progress.before is not None
        assert progress.before > 20
        assert progress.standstill
        assert progress.still == {process.pid}
        assert watched.blocked(progress.still) == {process.pid}
        assert watched.locked_out(progress.still) == frozenset(), "it sleeps"
        process.kill()


def test_a_server_that_was_idle_before_does_not_stand_still() -> None:
    assert not Progress(0.0, 0.0).standstill
    assert not Progress(None, 0.0).standstill
    assert Progress(100.0, 1.0).standstill


@pytest.mark.parametrize(("ended_ns", "function"), [(None, 7), (1_000, 7), (1_001, None)])
def test_the_function_of_a_thread_that_died_is_known_while_its_window_is_on(
    ended_ns: int | None, function: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once the window is over, calls are left unseen."""
    any_: Any = None
    reading = Reading(tmp_path / "recording", any_, any_, any_, cpus=1)
    transactions = pa.table({"pid": [4_000_000], "tid": [4_000_001]})
    monkeypatch.setattr(reading, "look", lambda: setattr(reading, "_transactions", transactions))
    monkeypatch.setattr("tare._probe.last_calls", lambda path, pid, tid: (1_000, [3, 7]))
    assert reading.last_function(4_000_001, ended_ns) == function
