"""Snapshots with known counts, in the shape that the tracer gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tare._probe import OsSnapshot

PARTS = ("on_cpu_ns", "run_queue_ns", "sleep_ns", "block_io_ns", "other_wait_ns")


@dataclass(frozen=True)
class Thread:
    tid: int
    node: int = 0
    tgid: int = 0  # 0: the thread's own id
    comm: str = "postgres"
    title: str = ""
    ended: bool = False
    present_ns: int = 0
    on_cpu_ns: int = 0
    run_queue_ns: int = 0
    sleep_ns: int = 0
    block_io_ns: int = 0
    other_wait_ns: int = 0
    system_ns: int | None = 0
    io_on_cpu_ns: int = 0
    reads: int = 0
    requested: int = 0
    missed: int = 0
    in_flight: int | None = 0
    ahead: int = 0
    mapped: int = 0
    sends: int = 0
    sent_bytes: int = 0
    receives: int = 0
    received_bytes: int = 0
    local_sends: int = 0
    local_sent_bytes: int = 0
    local_receives: int = 0
    local_received_bytes: int = 0
    run_ns: int = 0
    run_delay_ns: int = 0
    read_chars: int = 0
    write_chars: int = 0
    read_calls: int = 0
    write_calls: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    voluntary: int = 0
    involuntary: int = 0

    def __post_init__(self) -> None:
        if not self.tgid:
            object.__setattr__(self, "tgid", self.tid)

    def later(self, **more: int) -> Thread:
        """The same thread after it did this, too."""
        return replace(self, **{name: getattr(self, name) + value for name, value in more.items()})


@dataclass(frozen=True)
class Called:
    tid: int
    name: str
    count: int = 1
    errors: int = 0
    result: int = 0
    on_cpu_ns: int = 0
    run_queue_ns: int = 0
    sleep_ns: int = 0
    block_io_ns: int = 0
    other_wait_ns: int = 0


@dataclass(frozen=True)
class Request:
    tid: int
    sector: int = 0
    bytes: int = 4096
    submitted_ns: int = 0
    issued_ns: int = 0
    done_ns: int = 0
    node: int | None = 0
    device: int = 8
    write: bool = False


@dataclass(frozen=True)
class Outstanding:
    tid: int
    submitted_ns: int = 0
    node: int | None = 0


@dataclass(frozen=True)
class Sent:
    at_ns: int
    tid: int
    bytes: int
    node: int = 0
    sender: str = "10.0.0.1:5432"
    receiver: str = "10.0.0.2:40000"
    hash: int | None = 7
    head: Any = b"D"


@dataclass(frozen=True)
class Read:
    page: int
    pages: int = 1
    missed: int = 0
    in_flight: int = 0
    at_ns: int = 0
    tid: int = 5
    node: int = 0
    device: int = 8 << 20 | 1
    inode: int = 12


@dataclass(frozen=True)
class Snapshot:
    at_ns: int
    threads: list[Thread] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    outstanding: list[Outstanding] = field(default_factory=list)
    messages: list[Sent] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)


def snapshot(at_ns: int, *threads: Thread, **more: Any) -> OsSnapshot:
    return cast("OsSnapshot", Snapshot(at_ns, list(threads), **more))
