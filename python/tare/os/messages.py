"""Messages between nodes: sizes, destinations, and how many one multicast could have replaced.

The paper's section 5 (Figures 4 and 5, Table 5): a message could have been part of a multicast if its sender sent the
same content to another destination. Contents are compared by the hash of the whole payload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

RECORD = np.dtype(
    [
        ("time", "<u8"),
        ("hash", "<u8"),
        ("head", "S8"),
        ("node", "<u4"),
        ("tgid", "<u4"),
        ("bytes", "<u4"),
        ("hashed", "<u4"),
        ("source", ">u4"),
        ("destination", ">u4"),
        ("source_port", "<u2"),
        ("destination_port", "<u2"),
        ("unused", "<u4"),
    ]
)
"""A message as the tracer hands it over."""

Messages = NDArray[Any]

SMALL_BYTES = 512
"""The paper's limit between small and large messages (Table 5)."""

WINDOWS_MS = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0)
"""Waiting times of Figure 5."""

_TLS = (b"\x17\x03\x03", b"\x16\x03\x01", b"\x16\x03\x03")


@dataclass(frozen=True, slots=True)
class Saving:
    """Messages and bytes that multicasts would have saved, of all of a class."""

    messages: int
    bytes: int
    saved_messages: int
    saved_bytes: int

    @property
    def share(self) -> float | None:
        return self.saved_messages / self.messages if self.messages else None

    @property
    def bytes_share(self) -> float | None:
        return self.saved_bytes / self.bytes if self.bytes else None


@dataclass(frozen=True, slots=True)
class Multicast:
    """Upper bound by an offline comparison (Table 5), the saving within each waiting time in ms (Figure 5), and the
    gaps between copies in ns. `cached`: messages whose content the destination had received before, from anybody."""

    every: Saving
    small: Saving
    large: Saving
    by_window: Mapping[float, Saving]
    gaps_ns: Sequence[int]
    cached: Saving


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages from a node to an address."""

    node: int
    destination: str
    messages: int
    bytes: int


def parse(raw: bytes) -> Messages:
    """Messages in the order of time."""
    messages = np.frombuffer(raw, dtype=RECORD)
    return messages[np.argsort(messages["time"], kind="stable")]


def is_hashed(messages: Messages) -> NDArray[np.bool_]:
    """Whether the whole payload was read; sendfile, splice and io_uring send what no call shows."""
    found: NDArray[np.bool_] = messages["hashed"] == messages["bytes"]
    return found


def tls_share(messages: Messages) -> float:
    """Share of messages that begin as a TLS record does: their contents differ whatever they say."""
    if not len(messages):
        return 0.0
    return float(np.isin(messages["head"].astype("S3"), _TLS).mean())


def multicast(executions: Sequence[Messages]) -> Multicast:
    """Judges each execution by itself, since each sends the same again, and adds up. Only messages whose whole payload
    was read are judged."""
    judged = [_multicast(messages) for messages in executions]
    return Multicast(
        every=_sum(found.every for found in judged),
        small=_sum(found.small for found in judged),
        large=_sum(found.large for found in judged),
        by_window={ms: _sum(found.by_window[ms] for found in judged) for ms in WINDOWS_MS},
        gaps_ns=sorted(gap for found in judged for gap in found.gaps_ns),
        cached=_sum(found.cached for found in judged),
    )


def _sum(savings: Iterable[Saving]) -> Saving:
    whole = list(savings)
    return Saving(
        sum(saving.messages for saving in whole),
        sum(saving.bytes for saving in whole),
        sum(saving.saved_messages for saving in whole),
        sum(saving.saved_bytes for saving in whole),
    )


def _multicast(messages: Messages) -> Multicast:
    whole = messages[is_hashed(messages)]
    small = whole[whole["bytes"] < SMALL_BYTES]
    large = whole[whole["bytes"] >= SMALL_BYTES]
    return Multicast(
        every=_offline(whole),
        small=_offline(small),
        large=_offline(large),
        by_window={ms: _online(whole, int(ms * 1e6)) for ms in WINDOWS_MS},
        gaps_ns=_gaps(whole),
        cached=_cached(whole),
    )


def flows(messages: Messages) -> list[Flow]:
    """Messages and bytes by sender and destination, the largest first."""
    found: dict[tuple[int, int], list[int]] = {}
    for node, destination, size in zip(
        messages["node"].tolist(), messages["destination"].tolist(), messages["bytes"].tolist(), strict=True
    ):
        sums = found.setdefault((node, destination), [0, 0])
        sums[0] += 1
        sums[1] += size
    rows = [Flow(node, address(number), n, size) for (node, number), (n, size) in found.items()]
    return sorted(rows, key=lambda flow: -flow.bytes)


def address(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _groups(messages: Messages) -> Iterator[tuple[list[int], list[int], int]]:
    """Times and destinations of messages with the same sender and content, and their size."""
    groups: dict[tuple[int, int, int], tuple[list[int], list[int]]] = {}
    columns = (messages[name].tolist() for name in ("node", "hash", "bytes", "time", "destination"))
    for node, content, size, time, destination in zip(*columns, strict=True):
        times, destinations = groups.setdefault((node, content, size), ([], []))
        times.append(time)
        destinations.append(destination)
    for (_, _, size), (times, destinations) in groups.items():
        yield times, destinations, size


def _offline(messages: Messages) -> Saving:
    """A multicast reaches each destination once, so as many are needed as the busiest destination got messages."""
    saved = saved_bytes = 0
    for _, destinations, size in _groups(messages):
        needed = max(destinations.count(one) for one in set(destinations))
        saved += len(destinations) - needed
        saved_bytes += (len(destinations) - needed) * size
    return _saving(messages, saved, saved_bytes)


def _online(messages: Messages, wait_ns: int) -> Saving:
    """The first message of a content waits this long; copies to other destinations join it."""
    saved = saved_bytes = 0
    for times, destinations, size in _groups(messages):
        until, reached = -1, set[int]()
        for time, destination in zip(times, destinations, strict=True):
            if time <= until and destination not in reached:
                reached.add(destination)
                saved += 1
                saved_bytes += size
            else:
                until, reached = time + wait_ns, {destination}
    return _saving(messages, saved, saved_bytes)


def _gaps(messages: Messages) -> list[int]:
    """Times between a message and the next copy of it to another destination, ns, sorted."""
    found = []
    for times, destinations, _ in _groups(messages):
        for place in range(1, len(times)):
            if destinations[place] != destinations[place - 1]:
                found.append(times[place] - times[place - 1])
    return sorted(found)


def _cached(messages: Messages) -> Saving:
    seen: set[tuple[int, int, int]] = set()
    saved = saved_bytes = 0
    columns = (messages[name].tolist() for name in ("destination", "hash", "bytes"))
    for destination, content, size in zip(*columns, strict=True):
        if (destination, content, size) in seen:
            saved += 1
            saved_bytes += size
        seen.add((destination, content, size))
    return _saving(messages, saved, saved_bytes)


def _saving(messages: Messages, saved: int, saved_bytes: int) -> Saving:
    return Saving(len(messages), int(messages["bytes"].sum(dtype=np.int64)), saved, saved_bytes)
