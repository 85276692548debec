"""Messages of an observation by query and execution, each with its receiver: a host, or a node of a shared host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from tare.os.record import Message, Observation, Window
from tare.protocol.traffic import Count, Send

Matrix = Mapping[tuple[str, str], Count]


@dataclass(frozen=True, slots=True)
class QueryTraffic:
    """Messages that left their host while a query was executed."""

    name: str
    executions: tuple[tuple[Send, ...], ...]
    within: Count  # messages that did not leave their host
    lost: int

    @property
    def sends(self) -> tuple[Send, ...]:
        """Messages of all executions."""
        return tuple(send for execution in self.executions for send in execution)


class Places:
    """Nodes by their addresses, as the messages they sent show them."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._by_host: defaultdict[str, set[str]] = defaultdict(set)
        self._by_address: defaultdict[str, set[str]] = defaultdict(set)
        for message in messages:
            self._by_host[host_of(message.sender)].add(message.node)
            self._by_address[message.sender].add(message.node)

    def receiver(self, message: Message) -> str | None:
        """Return the host to which a message goes; the node if several nodes share this host. None: it stays."""
        host = host_of(message.receiver)
        if len(self._by_host.get(host, ())) > 1:
            nodes = self._by_address.get(message.receiver, set())
            if message.node in nodes:
                return None
            if len(nodes) == 1:
                return next(iter(nodes))
        return None if host == host_of(message.sender) else host

    def name(self, receiver: str) -> str:
        """Return the node of a host if there is exactly one, else the receiver's own name."""
        nodes = self._by_host.get(receiver, set())
        return next(iter(nodes)) if len(nodes) == 1 else receiver

    def named(self, matrix: Matrix) -> Matrix:
        """Return the same traffic from node to node."""
        between: defaultdict[tuple[str, str], Count] = defaultdict(Count)
        for (sender, receiver), count in matrix.items():
            between[sender, self.name(receiver)] += count
        return dict(sorted(between.items()))


def host_of(address: str) -> str:
    """Return the host of `host:port`; of an IPv4 address within IPv6, the IPv4 address."""
    host = ip_address(urlsplit(f"//{address}").hostname or "")
    return str((host.ipv4_mapped if isinstance(host, IPv6Address) else None) or host)


def places_of(observation: Observation) -> Places:
    """Return the nodes by the addresses of all messages observed."""
    return Places(message for window in observation.windows for message in window.messages)


def query_traffic(observation: Observation, places: Places) -> list[QueryTraffic]:
    """Return the traffic of each query that was traced, in the order of their first executions."""
    windows: defaultdict[str, list[Window]] = defaultdict(list)
    for window in observation.windows:
        if window.is_traced:
            windows[window.name].append(window)
    return [_traffic(name, executions, places) for name, executions in windows.items()]


def _traffic(name: str, windows: Iterable[Window], places: Places) -> QueryTraffic:
    executions, within, lost = [], Count(), 0
    for window in windows:
        sends = []
        for message in window.messages:
            receiver = places.receiver(message)
            if receiver is None:
                within += Count(1, message.bytes)
            else:
                sends.append(
                    Send(message.at_ns, message.node, receiver, message.bytes, message.hash, message.head)
                )
        executions.append(tuple(sends))
        lost += window.lost.get("messages", 0)
    return QueryTraffic(name, tuple(executions), within, lost)
