"""The folder of a killed process goes with the next process that makes such a folder; no other folder does."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tare.scratch import MARK, Scratch, remove_leftovers

PREFIX = "tare-test-"
PROGRAMS = {
    PREFIX: f"import atexit\nfrom tare.scratch import Scratch\natexit.register(Scratch({PREFIX!r}).remove)\n",
    "tare-analysis-": "from tare.lab.workspace import workspace\nowner = workspace()\n",
}
"""Programs that make a folder, by its prefix."""

WAITS = "print('ready', flush=True)\ninput()\n"


class Processes:
    """Processes of one program, whose temporary folder is `place`. They end with the block."""

    def __init__(self, place: Path, program: str) -> None:
        self._place = place
        self._program = program
        self._stack = ExitStack()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self) -> subprocess.Popen[str]:
        """A process that has made its folder, and waits for a line."""
        process = subprocess.Popen(
            [sys.executable, "-c", self._program + WAITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self._place)},
        )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary folder of this process too, which removes leftovers again at its next folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    remove_leftovers.cache_clear()
    yield tmp_path
    remove_leftovers.cache_clear()


def leftover(place: Path, name: str = f"{PREFIX}left") -> Path:
    """A folder with a mark that nobody locks."""
    folder = place / name
    folder.mkdir(mode=0o700)
    (folder / MARK).touch()
    (folder / "samples").write_text("x")
    return folder


@pytest.mark.parametrize("prefix", PROGRAMS)
def test_the_folder_of_a_killed_process_goes_at_the_next_start_and_that_of_a_live_one_stays(
    tmp_path: Path, prefix: str
) -> None:
    with Processes(tmp_path, PROGRAMS[prefix]) as processes:
        killed = processes.start()
        [left] = tmp_path.glob(f"{prefix}*")
        (left / "samples").write_text("x")
        processes.start()
        [live] = set(tmp_path.glob(f"{prefix}*")) - {left}
        (live / "samples").write_text("y")
        killed.kill()
        killed.wait()
        assert left.is_dir()
        last = processes.start()
        assert not left.exists()
        assert (live / "samples").read_text() == "y"
        last.communicate("\n", timeout=60)
        assert last.returncode == 0
        assert list(tmp_path.glob(f"{prefix}*")) == [live], "its own goes at the end"


def test_a_folder_is_removed_with_all_that_it_holds(place: Path) -> None:
    with Scratch(PREFIX) as folder:
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "link").symlink_to(place)
        (folder / "samples").touch()
    assert place.is_dir()
    assert not folder.exists()


def test_a_folder_without_the_mark_stays(place: Path) -> None:
    folder = leftover(place)
    (folder / MARK).rename(folder / f"{MARK}.new")  # its owner is about to lock it
    Scratch(PREFIX).remove()
    assert (folder / "samples").exists()


def test_a_folder_of_another_prefix_or_behind_a_link_stays(place: Path) -> None:
    other = leftover(place, "tare-other-left")
    (place / f"{PREFIX}link").symlink_to(other)
    Scratch(PREFIX).remove()
    assert (other / "samples").exists()


def test_a_mark_that_is_no_file_of_the_folder_is_no_evidence(place: Path) -> None:
    folder = leftover(place)
    (folder / MARK).unlink()
    (place / "elsewhere").touch()
    (folder / MARK).symlink_to(place / "elsewhere")
    Scratch(PREFIX).remove()
    assert (folder / "samples").exists()


def test_a_folder_that_another_process_removes_stays_to_it(place: Path) -> None:
    folder = leftover(place)
    with (folder / MARK).open() as remover:
        fcntl.flock(remover, fcntl.LOCK_EX)
        Scratch(PREFIX).remove()
        assert (folder / "samples").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_stays(place: Path) -> None:
    folder = leftover(place)
    os.chown(folder, 65534, -1)
    Scratch(PREFIX).remove()
    assert (folder / "samples").exists()


def test_without_locks_a_folder_is_made_all_the_same(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("fcntl.flock", refused)
    with Scratch(PREFIX) as folder:
        assert not (folder / MARK).exists()
    assert not folder.exists()
