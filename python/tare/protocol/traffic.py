"""Messages between nodes: repeated contents, and how many messages multicast or a cache would save.

Two messages of one sender have the same content if their lengths and hashes are equal. A multicast carries one content
to any number of receivers, to each of them once. Therefore a content that is sent n times, and to no receiver more than
r times, needs r multicasts at least: n - r messages are saved at most.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALL_BYTES = 512
"""Messages shorter than this are small."""

WINDOWS_MS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Lengths of the window in which equal messages are collected."""

MOST_ENCRYPTED = 0.1
"""Share of TLS records among messages above which equal hashes say little about equal contents."""

_TLS = ("170303", "160301", "160302", "160303")
_HTTP = tuple(word.encode().hex() for word in ("HTTP", "GET ", "POST", "PUT ", "DELE", "HEAD"))

Gaps = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Send:
    """A message from a node to another."""

    at_ns: int  # monotonic
    sender: str  # node
    receiver: str  # host, or node
    bytes: int
    hash: int | None  # of the whole payload; None where it was not read whole
    head: str  # first eight bytes, hexadecimal


@dataclass(frozen=True, slots=True)
class Count:
    messages: int = 0
    bytes: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.messages + other.messages, self.bytes + other.bytes)

    def shares(self, total: Count) -> tuple[float, float] | None:
        """Shares of the messages and of the bytes of a total. None if it has none."""
        if not total.messages or not total.bytes:
            return None
        return self.messages / total.messages, self.bytes / total.bytes


@dataclass(frozen=True, slots=True)
class Potential:
    """Messages, and how many of them each means would save with unlimited time: the upper bound.

    A receiver's cache answers each message whose content its sender has sent to it before. Multicast and cache overlap
    where a content is sent to several receivers several times; `both` counts such a message once."""

    total: Count = Count()
    unhashed: Count = Count()  # content not read whole: never saved
    multicast: Count = Count()
    cache: Count = Count()
    both: Count = Count()

    def __add__(self, other: Potential) -> Potential:
        return Potential(
            self.total + other.total,
            self.unhashed + other.unhashed,
            self.multicast + other.multicast,
            self.cache + other.cache,
            self.both + other.both,
        )


def counted(sends: Iterable[Send]) -> Count:
    """Number and bytes of messages."""
    sizes = [send.bytes for send in sends]
    return Count(len(sizes), sum(sizes))


def multicast_potential(sends: Iterable[Send]) -> Potential:
    """Return what multicast and caches would save if all of these messages were known beforehand."""
    sends = list(sends)
    multicast, cache, both = Count(), Count(), Count()
    for copies in _contents(sends):
        by_receiver = Counter(send.receiver for send in copies)
        size = copies[0].bytes
        multicast += _copies(len(copies) - max(by_receiver.values()), size)
        cache += _copies(len(copies) - len(by_receiver), size)
        both += _copies(len(copies) - 1, size)
    unhashed = counted(send for send in sends if send.hash is None)
    return Potential(counted(sends), unhashed, multicast, cache, both)


def window_curve(sends: Iterable[Send], windows_ms: Sequence[float] = WINDOWS_MS) -> tuple[Count, ...]:
    """Return what a sender saves, for each window, if it delays messages by it and collects equal ones until then.

    The first message of a content opens a window. Within it, equal messages to other receivers are saved, one for
    each receiver. The first equal message after its end opens the next one."""
    contents = _contents(sends)
    return tuple(_saved_within(contents, round(window_ms * 1e6)) for window_ms in windows_ms)


def _saved_within(contents: Iterable[Sequence[Send]], window_ns: int) -> Count:
    saved = Count()
    for copies in contents:
        opened_ns, receivers, messages = copies[0].at_ns, {copies[0].receiver}, 0
        for send in copies[1:]:
            if send.at_ns - opened_ns > window_ns:
                opened_ns, receivers = send.at_ns, {send.receiver}
            elif send.receiver not in receivers:
                receivers.add(send.receiver)
                messages += 1
        saved += _copies(messages, copies[0].bytes)
    return saved


def copy_gaps(sends: Iterable[Send]) -> Gaps:
    """Return the time from the latest equal message to another receiver, ns, for each message that has one."""
    gaps: list[int] = []
    for copies in _contents(sends):
        latest: dict[str, int] = {}
        for send in copies:
            others = [at_ns for receiver, at_ns in latest.items() if receiver != send.receiver]
            if others:
                gaps.append(send.at_ns - max(others))
            latest[send.receiver] = send.at_ns
    return np.array(sorted(gaps), dtype=np.int64)


def injection_gaps(sends: Iterable[Send]) -> dict[str, Gaps]:
    """Return the time between successive messages of each sender, ns."""
    times: defaultdict[str, list[int]] = defaultdict(list)
    for send in sends:
        times[send.sender].append(send.at_ns)
    gaps: dict[str, Gaps] = {}
    for sender in sorted(times):
        ordered = np.array(sorted(times[sender]), dtype=np.int64)
        gaps[sender] = ordered[1:] - ordered[:-1]
    return gaps


def size_histogram(sends: Iterable[Send]) -> tuple[tuple[int, int], ...]:
    """Return (exponent, count): messages of 2**exponent up to 2**(exponent + 1) bytes. Empty ones are under -1."""
    return tuple(sorted(Counter(send.bytes.bit_length() - 1 for send in sends).items()))


def common_sizes(sends: Iterable[Send], most: int) -> tuple[tuple[int, int], ...]:
    """Return the most frequent lengths in bytes, with the number of their messages; the most frequent one first."""
    counts = Counter(send.bytes for send in sends)
    return tuple(sorted(counts.items(), key=lambda size: (-size[1], size[0]))[:most])


def traffic_matrix(sends: Iterable[Send]) -> dict[tuple[str, str], Count]:
    """Return messages and bytes from each sender to each receiver."""
    matrix: dict[tuple[str, str], Count] = {}
    for send in sends:
        pair = send.sender, send.receiver
        matrix[pair] = matrix.get(pair, Count()) + Count(1, send.bytes)
    return dict(sorted(matrix.items()))


def destination_shares(matrix: Mapping[tuple[str, str], Count]) -> dict[str, dict[str, float]]:
    """Return, for each sender, the share of its messages that goes to each receiver."""
    sent: Counter[str] = Counter()
    for (sender, _), count in matrix.items():
        sent[sender] += count.messages
    shares: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (sender, receiver), count in matrix.items():
        shares[sender][receiver] = count.messages / sent[sender]
    return dict(shares)


def is_encrypted(head: str) -> bool:
    """Whether a message begins as a TLS record of application data or of a handshake."""
    return head.lower().startswith(_TLS)


def is_http(head: str) -> bool:
    """Whether a message begins as an HTTP request or response."""
    return head.lower().startswith(_HTTP)


def quantile(gaps: Gaps, share: float) -> int | None:
    """Return the least value that at least this share of all values does not exceed. None without values."""
    if not gaps.size:
        return None
    place = max(0, math.ceil(share * gaps.size) - 1)
    return int(np.partition(gaps, place)[place])


def _contents(sends: Iterable[Send]) -> list[list[Send]]:
    """Messages of the same sender, length and hash, in order of time, content by content."""

    def content(send: Send) -> tuple[str, int, int]:
        assert send.hash is not None
        return send.sender, send.bytes, send.hash

    hashed = [send for send in sends if send.hash is not None]
    hashed.sort(key=lambda send: (*content(send), send.at_ns))
    return [list(copies) for _, copies in itertools.groupby(hashed, content)]


def _copies(messages: int, size: int) -> Count:
    return Count(messages, messages * size)
