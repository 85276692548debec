"""Observations with planted messages: each node has an address of its own, the client has one without a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.os.level import Level
from tare.os.record import Message, Observation, Window

HOSTS = {"coordinator": "10.0.0.1", "worker 1": "10.0.0.2", "worker 2": "10.0.0.3", "worker 3": "10.0.0.4"}
CLIENT = "10.0.0.9"
MS = 1_000_000


def message(
    at_ms: float,
    node: str,
    receiver: str,
    content: int | None = None,
    size: int = 4000,
    head: str = "0000000000000000",
) -> Message:
    """A message from a node to a node, or to an address."""
    to = f"{HOSTS[receiver]}:5432" if receiver in HOSTS else receiver
    return Message(
        at_ns=round(at_ms * MS),
        node=node,
        role="worker",
        sender=f"{HOSTS[node]}:40000",
        receiver=to,
        bytes=size,
        hash=content,
        head=head,
    )


def broadcast(at_ms: float, content: int, size: int = 4000, apart_ms: float = 10.0) -> list[Message]:
    """Messages of one content from worker 1 to the three other nodes."""
    others = [node for node in HOSTS if node != "worker 1"]
    return [
        message(at_ms + turn * apart_ms, "worker 1", node, content, size) for turn, node in enumerate(others)
    ]


def unique(number: int, head: str = "0000000000000000", size: int = 4000) -> list[Message]:
    """Messages of contents of their own, from worker 2 to the coordinator, 2 ms apart."""
    return [message(2 * at, "worker 2", "coordinator", 10_000 + at, size, head) for at in range(number)]


def observation(
    windows: Sequence[tuple[str, Sequence[Message]]],
    *,
    lost: Mapping[str, int] | None = None,
    level: Level = Level.MESSAGES,
    absent: Mapping[str, str] | None = None,
) -> Observation:
    """`windows`: name of the query and its messages; `lost`: messages that found no room, by query."""
    numbers: dict[str, int] = {}
    made = []
    for name, messages in windows:
        numbers[name] = numbers.get(name, -1) + 1
        made.append(
            Window(
                name=name,
                number=numbers[name],
                is_traced=True,
                started_at="2026-11-29T12:00:00Z",
                wall_ns=10**9,
                read_ns=10**9,
                messages=tuple(messages),
                lost={"messages": (lost or {}).get(name, 0)},
            )
        )
    return Observation(
        level=level,
        subject="cluster",
        dbms="trino",
        server_version="476",
        url=None,
        started_at="2026-11-29T12:00:00Z",
        online_cpus=2,
        page_bytes=4096,
        kernel="6.18",
        windows=tuple(made),
        absent=dict(absent or {}),
    )
