"""Sums of buffered reads by role and file: sequence by thread, further batches of a read, and thinned points."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest

from tare.os.counts import Parts, count
from tare.os.files import unknown_file
from tare.os.level import Level
from tare.os.reads import MOST_POINTS, evenly, file_reads
from tare.os.record import FileReads
from tests.unit.os.planted import Read, Thread, snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._probe import OsRead


def summed(*reads: Read) -> tuple[FileReads, ...]:
    """Threads 5 to 9 have role "query", all others "prefetcher". The window begins at 1 ms."""
    return file_reads(
        cast("Sequence[OsRead]", reads),
        1_000_000,
        ("a", "b"),
        lambda tid, node: (node, "query" if tid < 10 else "prefetcher"),
        unknown_file,
    )


def test_a_read_after_the_last_one_of_its_thread_is_in_sequence() -> None:
    (file,) = summed(Read(0, 2), Read(2, 32), Read(34), Read(34), Read(0))
    assert (file.reads, file.pages, file.sequential) == (5, 37, 2)


def test_each_thread_has_a_sequence_of_its_own() -> None:
    (file,) = summed(Read(0, tid=5), Read(1, tid=6), Read(1, tid=5), Read(2, tid=6))
    assert (file.reads, file.sequential) == (4, 2)


def test_each_file_has_a_sequence_of_its_own() -> None:
    first, second = summed(Read(0), Read(1, inode=13), Read(1), Read(2, 2, inode=13))
    assert (first.file, first.pages, first.sequential) == ("file 13 on 8:1", 3, 1)
    assert (second.file, second.pages, second.sequential) == ("file 12 on 8:1", 2, 1)


def test_reads_are_ordered_by_their_time() -> None:
    (file,) = summed(Read(1, at_ns=3_000_000), Read(0, at_ns=1_500_000))
    assert file.sequential == 1
    assert file.points == ((0.5, 0, 1, 0), (2.0, 1, 1, 0))


def test_a_further_batch_belongs_to_its_read() -> None:
    (file,) = summed(Read(0, 256, 16), Read(16, 0, 240), Read(256))
    assert (file.reads, file.pages, file.missed, file.sequential) == (2, 257, 256, 1)
    assert [point[1:] for point in file.points] == [(0, 256, 256), (256, 1, 0)]


def test_a_batch_of_a_read_before_the_window_counts_as_missed_only() -> None:
    (file,) = summed(Read(16, 0, 3))
    assert (file.reads, file.pages, file.missed, file.points) == (0, 0, 3, ())


def test_pages_in_flight_add_up() -> None:
    (file,) = summed(Read(0, 4, in_flight=4), Read(4, 2, in_flight=2))
    assert (file.missed, file.in_flight) == (0, 6)


def test_nodes_and_roles_are_apart() -> None:
    files = summed(Read(0, tid=5), Read(0, 3, tid=11), Read(0, 2, node=1))
    assert [(file.node, file.role, file.pages) for file in files] == [
        ("a", "prefetcher", 3),
        ("b", "query", 2),
        ("a", "query", 1),
    ]


def test_many_reads_are_thinned_evenly() -> None:
    number = 5 * MOST_POINTS // 2
    (file,) = summed(*(Read(page) for page in range(number)))
    assert (file.reads, file.sequential, len(file.points), file.thinned) == (
        number,
        number - 1,
        MOST_POINTS,
        True,
    )
    pages = [point[1] for point in file.points]
    assert pages[:3] == [0, 2, 5]
    assert {after - before for before, after in pairwise(pages)} == {2, 3}


@pytest.mark.parametrize(("number", "most"), [(0, 3), (3, 3), (4, 3), (100, 7)])
def test_even_selections_begin_with_the_first_item(number: int, most: int) -> None:
    chosen = evenly(range(number), most)
    assert len(chosen) == min(number, most)
    assert list(chosen[:1]) == list(range(number))[:1]
    assert len(set(chosen)) == len(chosen)


@pytest.mark.parametrize(
    ("level", "absent", "expected"),
    [(Level.READS, (), 1), (Level.READS, ("cache",), 0), (Level.MESSAGES, (), 0)],
)
def test_reads_are_counted_at_their_level_only(level: Level, absent: tuple[str, ...], expected: int) -> None:
    first, second = snapshot(0, Thread(5)), snapshot(9, Thread(5), reads=[Read(0)], lost={"reads": 2})
    counts = count(first, second, ("a",), lambda thread: thread.comm, Parts.of(level, absent))
    assert [(file.node, file.role) for file in counts.files] == [("a", "postgres")] * expected
    assert counts.lost == {"reads": 2}


def test_levels_are_ordered() -> None:
    assert [level.rank for level in Level] == [0, 1, 2, 3, 4]
    assert [level for level in Level if level.has_calls] == [Level.FULL, Level.MESSAGES, Level.READS]
    assert [level for level in Level if level.has_messages] == [Level.MESSAGES, Level.READS]
    assert [level for level in Level if level.has_reads] == [Level.READS]
