"""The verdict on a cold cache counts each file outside the database that the query reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tare.measure.choices import CacheState
from tare.measure.records import FileResidence, Residence
from tare.protocol.cache import prove
from tests.unit.protocol.qe_records import process, qe, resources

EMPTY = Residence(0, 100 << 20, "mincore", 0, "pg_buffercache", None)
LARGE = FileResidence("/data/large.csv", 0, 10 << 30)


@pytest.mark.parametrize(
    ("files", "reached"),
    [
        ((), True),
        ((LARGE,), True),
        ((FileResidence("/data/large.csv", 1 << 30, 10 << 30),), False),
        ((LARGE, FileResidence("/data/small.csv", 50_000, 50_000)), False),
        ((LARGE, FileResidence("/data/closed.csv", None, None)), None),
    ],
)
def test_each_file_is_judged_by_itself(files: tuple[FileResidence, ...], reached: bool | None) -> None:
    seen = replace(EMPTY, query_files=files, query_files_how="fanotify", query_files_complete=True)
    proof = prove([qe(residence=seen)], CacheState.COLD)
    assert proof.reached is reached
    assert all(file.path in proof.evidence for file in files[-1:])


@pytest.mark.parametrize(
    ("read", "written", "from_disk", "reached"),
    [(50 << 20, 0, 50 << 20, True), (50 << 20, 0, 0, None), (50 << 20, 49 << 20, 0, True)],
)
@pytest.mark.parametrize("complete", [False, True])
def test_what_was_read_but_not_from_disk_leaves_room_for_a_file_that_was_missed(
    read: int, written: int, from_disk: int, reached: bool | None, complete: bool
) -> None:
    seen = replace(EMPTY, query_files_how="descriptors", query_files_complete=complete)
    weighed = qe(
        residence=seen,
        processes=(process(read_chars=read, write_chars=written),),
        resources=resources(read_bytes=from_disk),
    )
    assert prove([weighed], CacheState.COLD).reached is (True if complete else reached)
