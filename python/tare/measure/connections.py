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
from typing import NamedTuple

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST, _DUMP = 0x1, 0x300
_DONE, _ERROR = 3, 2
_UNIX_DIAG_NAME, _UNIX_DIAG_PEER, _UNIX_DIAG_PENDING = 0, 2, 3
_SHOW_NAME, _SHOW_PEER, _SHOW_PENDING = 1, 4, 8
_UNIX_LISTEN = 10  # TCP_LISTEN, which the kernel uses for Unix sockets, too
_EVERY_STATE = 0xFFFFFFFF
_TCP_LISTEN = "0A"
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address in an IPv6 socket, as /proc/net/tcp6 spells it
_PREFIX = "socket:["


@dataclass(frozen=True, slots=True)
class Connections:
    """Connections of this moment whose two ends are on this machine, by the inodes of their sockets."""

    server_of: dict[int, int] = field(default_factory=dict)  # client's end → server's end
    listener_of: dict[int, int] = field(
        default_factory=dict
    )  # client's end → socket that listens at its address
    listening: frozenset[int] = frozenset()
    connected: frozenset[int] = frozenset()  # every end of a connection, also of one that leaves the machine

    @property
    def server_ends(self) -> frozenset[int]:
        return frozenset(self.server_of.values())


def connections(pid: int) -> Connections:
    """Return the connections in the network namespace of `pid`, and all Unix ones of our own.

    A client's end has no name or a port that nobody listens on; the server's has the listener's."""
    tcp, unix = _tcp(pid), _unix()
    return Connections(
        tcp.server_of | unix.server_of,
        tcp.listener_of | unix.listener_of,
        tcp.listening | unix.listening,
        tcp.connected | unix.connected,
    )


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


def _tcp(pid: int) -> Connections:
    ends: dict[tuple[str, str], int] = {}
    listening: dict[str, int] = {}  # by address with port
    for table in ("tcp", "tcp6"):
        for local, remote, state, inode in _rows(f"/proc/{pid}/net/{table}"):
            if state == _TCP_LISTEN:
                listening[local] = inode
            elif inode:  # 0: its process has closed it
                ends[local, remote] = inode
    at_port = {_port(local): inode for local, inode in listening.items()}
    clients = {
        one: inode for one, inode in ends.items() if _port(one[1]) in at_port and _port(one[0]) not in at_port
    }
    return Connections(
        {inode: ends[remote, local] for (local, remote), inode in clients.items() if (remote, local) in ends},
        {inode: listening.get(remote, at_port[_port(remote)]) for (_, remote), inode in clients.items()},
        frozenset(listening.values()),
        frozenset(ends.values()),
    )


def _port(address: str) -> str:
    return address.rpartition(":")[2]


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


def _unix() -> Connections:
    names: dict[int, bytes] = {}  # of servers' ends, which are those of their listeners
    peers: dict[int, int] = {}
    listening: dict[bytes, int] = {}
    listener_of: dict[int, int] = {}
    for found in _unix_sockets():
        if found.state == _UNIX_LISTEN:
            listening[found.name] = found.inode
            listener_of |= dict.fromkeys(found.pending, found.inode)
        elif found.peer:
            peers[found.inode] = found.peer
            if found.name:
                names[found.inode] = found.name
    server_of = {one: other for one, other in peers.items() if one not in names and other in names}
    listener_of |= {
        one: listening[names[other]] for one, other in server_of.items() if names[other] in listening
    }
    return Connections(server_of, listener_of, frozenset(listening.values()), frozenset(peers))


class _UnixSocket(NamedTuple):
    inode: int
    state: int
    name: bytes  # empty: none
    peer: int  # inode of the other end; 0: none, or not accepted yet
    pending: tuple[int, ...]  # clients' ends of connections that a listener has not accepted yet


def _unix_sockets() -> Iterator[_UnixSocket]:
    """All Unix sockets; none where the kernel has no such diagnosis."""
    body = struct.pack(
        "=BBHIIIII", socket.AF_UNIX, 0, 0, _EVERY_STATE, 0, _SHOW_NAME | _SHOW_PEER | _SHOW_PENDING, 0, 0
    )
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


def _unix_socket(message: bytes) -> _UnixSocket:
    state, inode = message[2], struct.unpack_from("=I", message, 4)[0]
    name, peer, pending, at = b"", 0, (), 16
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        payload = message[at + 4 : at + length]
        if kind == _UNIX_DIAG_NAME:
            name = payload
        elif kind == _UNIX_DIAG_PEER:
            (peer,) = struct.unpack("=I", payload)
        elif kind == _UNIX_DIAG_PENDING:
            pending = struct.unpack(f"={len(payload) // 4}I", payload)
        at += (length + 3) & ~3
    return _UnixSocket(inode, state, name, peer, pending)
