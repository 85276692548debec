"""A file is written whole or not at all, and what was there before survives a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tare.errors import ExportFailed
from tare.files import write


def test_the_text_is_there_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "out.json", "µ\n")
    assert (tmp_path / "out.json").read_bytes() == "µ\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_a_file_that_was_there_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old, and longer than the new")
    target.chmod(0o640)
    write(target, "new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "out", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


def test_a_full_device_fails_with_its_name_and_a_next_step() -> None:
    with pytest.raises(ExportFailed) as failed:
        write(Path("/dev/full"), "x")
    assert "/dev/full" in failed.value.what
    assert "No space left" in failed.value.what
    assert "make room" in failed.value.next_step


LIMITED = """
import resource, signal, sys
from pathlib import Path
from tare.errors import ExportFailed
from tare.files import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write(Path(sys.argv[1]), "x" * 10_000)
except ExportFailed as failure:
    print(failure.what)
"""


def test_a_file_that_cannot_grow_leaves_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(target)], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=60)  # fmt: skip
    assert "could not be written: File too large" in done.stdout
    assert target.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.root
def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        target = tmp_path / "out.json"
        target.write_text("old")
        with pytest.raises(ExportFailed, match="No space left"):
            write(target, "x" * 200_000)
        assert target.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True, timeout=60)


@pytest.mark.parametrize(
    ("where", "next_step"), [("nowhere/out.json", "make the directory"), (".", "not a directory")]
)
def test_a_place_that_takes_no_file_says_what_to_do(tmp_path: Path, where: str, next_step: str) -> None:
    with pytest.raises(ExportFailed) as failed:
        write(tmp_path / where, "x")
    assert next_step in failed.value.next_step
