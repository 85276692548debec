"""Both ends of a connection, with the kernel's own sockets."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tare.measure.connections import connections, sockets


def _inode(end: socket.socket) -> int:
    return os.fstat(end.fileno()).st_ino


def _listener(kind: str, folder: Path) -> tuple[socket.socket, int, str | tuple[str, int]]:
    """A listener, and the family and address by which a client reaches it."""
    if kind == "unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "s"))
        return listener, socket.AF_UNIX, str(folder / "s")
    family = socket.AF_INET if kind == "ipv4" else socket.AF_INET6
    listener = socket.socket(family)
    if kind == "both":
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind(({"ipv4": "127.0.0.1", "ipv6": "::1", "both": "::"}[kind], 0))
    port = listener.getsockname()[1]
    if kind == "ipv6":
        return listener, socket.AF_INET6, ("::1", port)
    return listener, socket.AF_INET, ("127.0.0.1", port)


Ends = tuple[socket.socket, socket.socket, socket.socket]
"""Listener, client's end, server's end."""


@pytest.fixture(params=["ipv4", "ipv6", "both", "unix"])
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ends]:
    with ExitStack() as opened:
        try:
            listener, family, address = _listener(request.param, tmp_path)
        except OSError as error:
            pytest.skip(f"no such socket here: {error}")
        opened.enter_context(listener)
        listener.listen()
        client = opened.enter_context(socket.socket(family))
        client.connect(address)
        server = opened.enter_context(listener.accept()[0])
        yield listener, client, server


def test_the_servers_end_is_found_from_the_clients(ends: Ends) -> None:
    listener, client, server = ends
    found = connections(os.getpid())
    assert found.server_of[_inode(client)] == _inode(server)
    assert _inode(server) not in found.server_of
    assert _inode(listener) in found.listening


def test_the_listener_is_found_from_the_clients_end_before_and_after_it_accepts(ends: Ends) -> None:
    listener, client, _ = ends
    assert connections(os.getpid()).listener_of[_inode(client)] == _inode(listener)
    with socket.socket(client.family) as waiting:
        waiting.connect(client.getpeername())
        assert connections(os.getpid()).listener_of[_inode(waiting)] == _inode(listener)


def test_the_sockets_of_a_process_are_its_open_ones(ends: Ends) -> None:
    inodes = {_inode(end) for end in ends}
    assert inodes <= (sockets(os.getpid()) or frozenset())
    gone = _inode(ends[1])
    ends[1].close()
    assert gone not in (sockets(os.getpid()) or frozenset())
    assert gone not in connections(os.getpid()).server_of


def test_a_process_that_has_ended_has_no_sockets_to_read() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert sockets(pid) is None
