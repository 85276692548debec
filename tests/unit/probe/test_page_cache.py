"""Pages of a file: those in memory are counted, and clean ones can be dropped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare._probe import ProbeError, evict, residency

PAGES = 100


def written(path: Path, pages: int = PAGES) -> str:
    with path.open("wb") as file:
        file.write(b"x" * (pages * os.sysconf("SC_PAGESIZE") - 1 if pages else 0))
        file.flush()
        os.fsync(file.fileno())
    return str(path)


def test_a_written_file_is_resident_until_it_is_evicted_and_again_when_read(tmp_path: Path) -> None:
    path = written(tmp_path / "file")
    (warm,) = residency([path])
    evict([path])
    (cold,) = residency([path])
    Path(path).read_bytes()
    (again,) = residency([path])
    assert (warm.pages, warm.resident, warm.size_bytes) == (PAGES, PAGES, Path(path).stat().st_size)
    if cold.resident == PAGES:
        pytest.skip(f"the file system under {tmp_path} lives in memory and drops nothing")
    assert (cold.resident, again.resident) == (0, PAGES)


def test_dirty_pages_are_counted_where_cachestat_works(tmp_path: Path) -> None:
    path = tmp_path / "dirty"
    path.write_bytes(b"x" * PAGES * os.sysconf("SC_PAGESIZE"))
    (found,) = residency([str(path)])
    assert found.dirty is None if found.how == "mincore" else 0 < (found.dirty or 0) <= PAGES


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    (found,) = residency([written(tmp_path / "empty", pages=0)])
    assert (found.pages, found.resident, found.size_bytes) == (0, 0, 0)


@pytest.mark.parametrize("act", [residency, evict])
def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, act: object) -> None:
    assert callable(act)
    with pytest.raises(ProbeError, match="nothing-here") as caught:
        act([str(tmp_path / "nothing-here")])
    assert caught.value.errno == 2
    with pytest.raises(ProbeError, match="no regular file"):
        act([str(tmp_path)])
