"""Generator and DBMS, joined by a named pipe: whichever fails, the other is not left waiting."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tare.errors import ExportFailed, ServerLost, StatementFailed
from tare.workload.wisconsin.pipe import piped

LINES = 200_000  # some 2.6 MB: forty times what a pipe holds


def whole(pipe: Path) -> int:
    with pipe.open("w") as stream:
        stream.writelines(f"{number},tuple\n" for number in range(LINES))
    return LINES


def counted(pipe: Path) -> int:
    with pipe.open() as stream:
        return sum(1 for _ in stream)


@pytest.fixture(autouse=True)
def no_thread_is_left_over() -> object:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def test_every_line_arrives(tmp_path: Path) -> None:
    assert piped(whole, counted) == LINES


def test_the_pipe_is_gone_afterwards() -> None:
    seen: list[Path] = []

    def noted(pipe: Path) -> int:
        seen.append(pipe)
        return counted(pipe)

    piped(whole, noted)
    assert not seen[0].parent.exists()


def test_a_generator_that_fails_ends_the_load_and_is_what_is_raised() -> None:
    def half(pipe: Path) -> int:
        with pipe.open("w") as stream:
            stream.writelines(f"{number},tuple\n" for number in range(LINES // 2))
        raise ExportFailed("no more tuples")

    with pytest.raises(ExportFailed, match="no more tuples"):
        piped(half, counted)


def test_a_generator_that_fails_before_its_first_line_leaves_no_reader_waiting() -> None:
    def none(pipe: Path) -> int:
        raise ValueError("no such relation")

    with pytest.raises(StatementFailed, match="no such relation"):
        piped(none, counted)


def test_the_generator_is_blamed_for_the_torn_line_that_the_dbms_refuses() -> None:
    def torn(pipe: Path) -> int:
        with pipe.open("w") as stream:
            stream.write("1,tup")
        raise ExportFailed("torn")

    def strict(pipe: Path) -> int:
        with pipe.open() as stream:
            if not stream.read().endswith("\n"):
                raise StatementFailed("a line has no end")
        return 1

    with pytest.raises(ExportFailed, match="torn"):
        piped(torn, strict)


def test_a_dbms_that_goes_away_in_the_middle_stops_the_generator() -> None:
    def lost(pipe: Path) -> int:
        with pipe.open() as stream:
            for _ in range(1_000):
                stream.readline()
        raise ServerLost("it is gone")

    with pytest.raises(ServerLost, match="it is gone"):
        piped(whole, lost)


def test_a_dbms_that_never_reads_stops_the_generator() -> None:
    def refused(pipe: Path) -> int:
        raise StatementFailed("files are forbidden")

    began = time.monotonic()
    with pytest.raises(StatementFailed, match="forbidden"):
        piped(whole, refused)
    assert time.monotonic() - began < 5.0


def test_a_dbms_that_stops_reading_early_stops_the_generator() -> None:
    def first(pipe: Path) -> int:
        with pipe.open() as stream:
            stream.readline()
        return 1

    assert piped(whole, first) == 1


def test_an_interrupt_stops_the_generator_too() -> None:
    def interrupted(pipe: Path) -> int:
        with pipe.open() as stream:
            stream.readline()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        piped(whole, interrupted)


def test_the_pipe_of_a_process_that_was_killed_goes_with_the_next_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, live = tmp_path / f"tare-load-{gone.pid}-a", tmp_path / f"tare-load-{os.getppid()}-b"
    for folder in (left, live):
        folder.mkdir()
        os.mkfifo(folder / "tuples.csv")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    piped(whole, counted)
    assert list(tmp_path.iterdir()) == [live]
