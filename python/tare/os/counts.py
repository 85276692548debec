"""Difference of two snapshots of the kernel's counts, by node and role."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.os.disk import disk_of
from tare.os.files import FileOf, unknown_file
from tare.os.level import Level
from tare.os.reads import file_reads
from tare.os.record import (
    Call,
    Disk,
    FileReads,
    Kept,
    Message,
    PageCache,
    RoleCounts,
    Sockets,
    Times,
    summed,
)
from tare.os.requests import Requests, outstanding_ns, submitted_between

if TYPE_CHECKING:
    from tare._probe import OsCall, OsOutstanding, OsRequest, OsSnapshot, OsThread

UNSEEN = "unseen thread"
"""Role of a thread that found no room among the counted ones."""

_MOVES_BYTES = frozenset({
    "read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev", "pwritev", "pwritev2",
    "sendto", "sendmsg", "recvfrom", "recvmsg", "sendfile", "splice", "copy_file_range",
})  # fmt: skip
"""Calls whose result counts bytes."""

_TIMES = ("on_cpu_ns", "run_queue_ns", "sleep_ns", "block_io_ns", "other_wait_ns")
_KEPT = (*Kept.model_fields,)
_SOCKETS = (*Sockets.model_fields,)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of an interval. A part is None, or empty, where the level or the kernel does not give it."""

    read_ns: int
    roles: tuple[RoleCounts, ...]
    io_busy_ns: int | None = None
    io_on_cpu_ns: int | None = None
    messages: tuple[Message, ...] = ()
    files: tuple[FileReads, ...] = ()
    write_back: Disk | None = None
    lost: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that a tracer gives."""

    calls: bool
    cache: bool
    disk: bool
    sockets: bool
    reads: bool

    @staticmethod
    def of(level: Level, absent: Iterable[str]) -> Parts:
        """Return the parts of a level, less those that the kernel refuses."""
        lacking = set(absent)
        return Parts(
            calls=level.has_calls and "calls" not in lacking,
            cache="cache" not in lacking,
            disk="disk" not in lacking,
            sockets="sockets" not in lacking,
            reads=level.has_reads and "cache" not in lacking,
        )


def count(
    first: OsSnapshot,
    second: OsSnapshot,
    nodes: Sequence[str],
    role_of: Callable[[OsThread], str],
    parts: Parts,
    file_of: FileOf = unknown_file,
) -> Counts:
    """Return the counts between two snapshots that follow each other. `nodes`: names in the tracer's order."""
    earlier = {(thread.tid, thread.tgid): thread for thread in first.threads}
    pairs = [(earlier.get((thread.tid, thread.tgid)), thread) for thread in second.threads]
    pairs = [(before, after) for before, after in pairs if before is None or not before.ended]
    owners = Owners(second.threads, role_of)
    calls = _calls(first.calls, second.calls) if parts.calls else {}
    members: dict[tuple[int, str], list[RoleCounts]] = defaultdict(list)
    for before, after in pairs:
        role = owners.role(after)
        own = calls.pop(after.tid, {}) if owners.is_last(after) else {}
        counts = _thread_counts(nodes[after.node], role, before, after, own, parts)
        members[after.node, role].append(counts)
    disks = _disks(submitted_between(first, second), owners) if parts.disk else {}
    for key in disks:
        if key is not None:
            members.setdefault(key, [])
    return Counts(
        read_ns=second.at_ns - first.at_ns,
        roles=tuple(
            _role_counts(nodes[node], role, members[node, role], disks.get((node, role), Disk()), parts)
            for node, role in sorted(members)
        ),
        io_busy_ns=outstanding_ns(first, second) if parts.disk else None,
        io_on_cpu_ns=sum(_difference(*pair, "io_on_cpu_ns") for pair in pairs) if parts.disk else None,
        messages=tuple(_messages(second, nodes, owners)),
        files=file_reads(second.reads, first.at_ns, nodes, owners.place, file_of) if parts.reads else (),
        write_back=disks.get(None, Disk()) if parts.disk else None,
        lost={
            name: more for name, lost in second.lost.items() if (more := lost - first.lost.get(name, 0)) > 0
        },
    )


class Owners:
    """Roles of a snapshot's threads. An id that was used again is the living thread's."""

    def __init__(self, threads: Iterable[OsThread], role_of: Callable[[OsThread], str]) -> None:
        self._role_of = role_of
        self._roles: dict[tuple[int, int], str] = {}
        self._by_tid = {thread.tid: thread for thread in sorted(threads, key=lambda one: not one.ended)}

    def role(self, thread: OsThread) -> str:
        key = (thread.tid, thread.tgid)
        if key not in self._roles:
            self._roles[key] = self._role_of(thread)
        return self._roles[key]

    def is_last(self, thread: OsThread) -> bool:
        """Whether the thread is the last one with this id."""
        return self._by_tid[thread.tid].tgid == thread.tgid

    def place(self, tid: int, node: int) -> tuple[int, str]:
        """Return the node and role of a thread id. `node`: as the kernel has it, for a thread that was not counted."""
        thread = self._by_tid.get(tid)
        return (node, UNSEEN) if thread is None else (thread.node, self.role(thread))


def _thread_counts(
    node: str,
    role: str,
    before: OsThread | None,
    after: OsThread,
    calls: dict[str, Call],
    parts: Parts,
) -> RoleCounts:
    present_ns = _difference(before, after, "present_ns")
    return RoleCounts(
        node=node,
        role=role,
        threads=1 if present_ns > 0 else 0,
        times=Times(
            present_ns=present_ns,
            **{name: _difference(before, after, name) for name in _TIMES},
            system_ns=_optional(before, after, "system_ns"),
        ),
        kept=Kept(**{name: _difference(before, after, name) for name in _KEPT}),
        calls=calls if parts.calls else None,
        cache=_cache(before, after) if parts.cache else None,
        disk=Disk() if parts.disk else None,
        sockets=Sockets(**{name: _difference(before, after, name) for name in _SOCKETS})
        if parts.sockets
        else None,
    )


def _cache(before: OsThread | None, after: OsThread) -> PageCache:
    return PageCache(
        reads=_difference(before, after, "reads"),
        requested=_difference(before, after, "requested"),
        missed=_difference(before, after, "missed"),
        in_flight=_optional(before, after, "in_flight"),
        ahead=_difference(before, after, "ahead"),
        mapped=_difference(before, after, "mapped"),
    )


def _role_counts(node: str, role: str, members: Sequence[RoleCounts], disk: Disk, parts: Parts) -> RoleCounts:
    counts = summed(members, node, role)
    lacking = {
        name: None
        for name, is_there in (("calls", parts.calls), ("cache", parts.cache), ("sockets", parts.sockets))
        if not is_there
    }
    return counts.model_copy(update={**lacking, "disk": disk if parts.disk else None})


def _difference(before: OsThread | None, after: OsThread, name: str) -> int:
    latest: int = getattr(after, name)
    return latest if before is None else latest - getattr(before, name)


def _optional(before: OsThread | None, after: OsThread, name: str) -> int | None:
    if getattr(after, name) is None or (before is not None and getattr(before, name) is None):
        return None
    return _difference(before, after, name)


def _calls(first: Iterable[OsCall], second: Iterable[OsCall]) -> dict[int, dict[str, Call]]:
    """Calls that returned or were in progress between two snapshots, by thread id and name."""
    before, after = _by_kind(first), _by_kind(second)
    found: dict[int, dict[str, Call]] = defaultdict(dict)
    for (tid, name), values in after.items():
        earlier = before.get((tid, name), [0] * len(values))
        counted, errors, result, *times = (now - then for now, then in zip(values, earlier, strict=True))
        if counted or any(times):
            found[tid][name] = Call(
                count=counted,
                errors=errors,
                bytes=result if name in _MOVES_BYTES else 0,
                **dict(zip(_TIMES, times, strict=True)),
            )
    return found


def _by_kind(calls: Iterable[OsCall]) -> dict[tuple[int, str], list[int]]:
    found: dict[tuple[int, str], list[int]] = {}
    for call in calls:
        values = [call.count, call.errors, call.result, *(getattr(call, name) for name in _TIMES)]
        known = found.get((call.tid, call.name))
        found[call.tid, call.name] = (
            values if known is None else [a + b for a, b in zip(known, values, strict=True)]
        )
    return found


def _disks(requests: Requests, owners: Owners) -> dict[tuple[int, str] | None, Disk]:
    """Sums over requests by node and role. None: those of the kernel's threads."""

    def submitter(request: OsRequest | OsOutstanding) -> tuple[int, str] | None:
        return None if request.node is None else owners.place(request.tid, request.node)

    done: dict[tuple[int, str] | None, list[OsRequest]] = defaultdict(list)
    for request in requests.done:
        done[submitter(request)].append(request)
    outstanding = Counter(map(submitter, requests.outstanding))
    return {key: disk_of(done[key], outstanding[key]) for key in {*done, *outstanding}}


def _messages(snapshot: OsSnapshot, nodes: Sequence[str], owners: Owners) -> Iterable[Message]:
    for message in sorted(snapshot.messages, key=lambda one: one.at_ns):
        node, role = owners.place(message.tid, message.node)
        yield Message(
            at_ns=message.at_ns,
            node=nodes[node],
            role=role,
            sender=message.sender,
            receiver=message.receiver,
            bytes=message.bytes,
            hash=message.hash,
            head=message.head.hex(),
        )
