"""Buffered reads of a window by node, role and file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tare.os.files import FileOf, Key
from tare.os.record import FileReads

if TYPE_CHECKING:
    from tare._probe import OsRead

MOST_POINTS = 4000
"""Reads of a file that are kept with their places."""

_NS_PER_MS = 1e6
_Item = TypeVar("_Item")


def file_reads(
    reads: Iterable[OsRead],
    began_ns: int,
    nodes: Sequence[str],
    place: Callable[[int, int], tuple[int, str]],
    file_of: FileOf,
) -> tuple[FileReads, ...]:
    """Return the sums of each file, most pages first. `place`: node and role of a thread id and its node.

    The kernel's read-ahead follows each open file of a process by itself. A read is in sequence if it continues the
    last read of the same thread, therefore, and the reads of a pool of threads that share a scan may not be."""
    sums: dict[tuple[int, str, Key], _Sums] = {}
    for read in sorted(reads, key=lambda one: one.at_ns):
        key = (read.device, read.inode)
        node, role = place(read.tid, read.node)
        sums.setdefault((node, role, key), _Sums()).add(read, (read.at_ns - began_ns) / _NS_PER_MS)
    found = []
    for (node, role, key), counts in sums.items():
        file = file_of(key)
        found.append(
            FileReads(
                node=nodes[node],
                role=role,
                file=file.name,
                path=file.path,
                reads=counts.reads,
                pages=counts.pages,
                missed=counts.missed,
                in_flight=counts.in_flight,
                sequential=counts.sequential,
                points=tuple(point.values for point in evenly(counts.points, MOST_POINTS)),
                thinned=len(counts.points) > MOST_POINTS,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.pages, one.node, one.role, one.file)))


def evenly(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """Return at most so many items, evenly spaced, from the first one on."""
    if len(items) <= most:
        return items
    return [items[at * len(items) // most] for at in range(most)]


@dataclass(slots=True)
class _Point:
    at_ms: float
    page: int
    pages: int
    missed: int

    @property
    def values(self) -> tuple[float, int, int, int]:
        return (round(self.at_ms, 3), self.page, self.pages, self.missed)


@dataclass(slots=True)
class _Sums:
    reads: int = 0
    pages: int = 0
    missed: int = 0
    in_flight: int = 0
    sequential: int = 0
    points: list[_Point] = field(default_factory=list)
    _last: dict[int, _Point] = field(default_factory=dict)  # by thread

    def add(self, read: OsRead, at_ms: float) -> None:
        self.missed += read.missed
        self.in_flight += read.in_flight
        last = self._last.get(read.tid)
        if not read.pages:  # a further batch of the thread's last read
            if last is not None:
                last.missed += read.missed
            return
        self.reads += 1
        self.pages += read.pages
        if last is not None and read.page == last.page + last.pages:
            self.sequential += 1
        self._last[read.tid] = point = _Point(at_ms, read.page, read.pages, read.missed)
        self.points.append(point)
