"""Connections between processes of one machine: which end is the client's, and which process holds an end.

Both ends of a Unix connection are named by the kernel's socket diagnosis alone (sock_diag(7)); those of a TCP
connection are found by their addresses. An end is known by the inode of its socket, as /proc/PID/fd shows it.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST, _DUMP = 0x1, 0x300
_DONE, _ERROR = 3, 2
_UNIX_DIAG_NAME, _UNIX_DIAG_PEER = 0, 2
_SHOW_NAME, _SHOW_PEER = 1, 4
_UNIX_LISTEN = 10  # TCP_LISTEN, which the kernel uses for Unix sockets, too
_EVERY_STATE = 0xFFFFFFFF
_TCP_LISTEN = "0A"
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address in an IPv6 socket, as /proc/net/tcp6 spells it
_PREFIX = "socket:["


@dataclass(frozen=True, slots=True)
class Connections:
    """Connections of this moment whose two ends are on this machine, by the inodes of their sockets."""

    server_of: dict[int, int] = field(default_factory=dict)  # client's end → server's end
    listening: frozenset[int] = frozenset()

    @property
    def server_ends(self) -> frozenset[int]:
        return frozenset(self.server_of.values())


def connections(pid: int) -> Connections:
    """Return the connections in the network namespace of `pid`, and all Unix ones of our own.

    A client's end has no name or a port that nobody listens on; the server's has the listener's."""
    tcp, tcp_listening = _tcp(pid)
    unix, unix_listening = _unix()
    return Connections(tcp | unix, tcp_listening | unix_listening)


def sockets(pid: int) -> frozenset[int] | None:
    """Inodes of the sockets that a process has open; None if it has ended, or is another user's."""
    folder = f"/proc/{pid}/fd"
    inodes = set()
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return None
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
        except OSError:
            continue  # closed in between
        if target.startswith(_PREFIX):
            inodes.add(int(target[len(_PREFIX) : -1]))
    return frozenset(inodes)


def _tcp(pid: int) -> tuple[dict[int, int], frozenset[int]]:
    ends: dict[tuple[str, str], int] = {}
    ports: set[str] = set()
    listening: set[int] = set()
    for table in ("tcp", "tcp6"):
        for local, remote, state, inode in _rows(f"/proc/{pid}/net/{table}"):
            if state == _TCP_LISTEN:
                ports.add(local.rpartition(":")[2])
                listening.add(inode)
            elif inode:  # 0: its process has closed it
                ends[local, remote] = inode
    found = {}
    for (local, remote), inode in ends.items():
        server = ends.get((remote, local))
        if (
            server is not None
            and remote.rpartition(":")[2] in ports
            and local.rpartition(":")[2] not in ports
        ):
            found[inode] = server
    return found, frozenset(listening)


def _rows(path: str) -> Iterator[tuple[str, str, str, int]]:
    """Local and remote address with port, state and inode of each socket; none if the table is not readable."""
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123
            next(file, None)
            for line in file:
                parts = line.split()
                yield _address(parts[1]), _address(parts[2]), parts[3], int(parts[9])
    except OSError:
        return


def _address(text: str) -> str:
    return text.removeprefix(_MAPPED)


def _unix() -> tuple[dict[int, int], frozenset[int]]:
    named: set[int] = set()
    peers: dict[int, int] = {}
    listening: set[int] = set()
    for inode, state, name, peer in _unix_sockets():
        if state == _UNIX_LISTEN:
            listening.add(inode)
        elif peer:
            peers[inode] = peer
            if name:
                named.add(inode)
    found = {one: other for one, other in peers.items() if one not in named and other in named}
    return found, frozenset(listening)


def _unix_sockets() -> Iterator[tuple[int, int, bool, int]]:
    """Inode, state, whether it has a name, and inode of the peer (0: none) of each Unix socket; none where the kernel
    has no such diagnosis."""
    body = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, _EVERY_STATE, 0, _SHOW_NAME | _SHOW_PEER, 0, 0)
    head = struct.pack("=IHHII", 16 + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST | _DUMP, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as asked:
            asked.settimeout(1.0)
            asked.send(head + body)
            while True:
                answer = asked.recv(1 << 18)
                at = 0
                while at < len(answer):
                    length, kind = struct.unpack_from("=IH", answer, at)
                    if kind in (_DONE, _ERROR):
                        return
                    yield _unix_socket(answer[at + 16 : at + length])
                    at += (length + 3) & ~3
    except OSError:
        return


def _unix_socket(message: bytes) -> tuple[int, int, bool, int]:
    state, inode = message[2], struct.unpack_from("=I", message, 4)[0]
    name, peer, at = False, 0, 16
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == _UNIX_DIAG_NAME:
            name = length > 4
        elif kind == _UNIX_DIAG_PEER:
            peer = struct.unpack_from("=I", message, at + 4)[0]
        at += (length + 3) & ~3
    return inode, state, name, peer
