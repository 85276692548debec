"""A socket between a lab and its real server, which can swallow the answer to a COMMIT."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Proxy:
    """Listens on a PostgreSQL socket in `folder` and passes everything on to the one in `real`."""

    def __init__(self, folder: Path, real: Path) -> None:
        self.swallow_next_commit = False
        self.swallowed = 0
        self.await_before_commit: Callable[[], None] = lambda: None
        self._real = next(path for path in real.glob(".s.PGSQL.*") if path.suffix != ".lock")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / self._real.name))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._real))
            threading.Thread(target=self._upwards, args=(client, server), daemon=True).start()
            threading.Thread(target=self._downwards, args=(server, client), daemon=True).start()

    def _upwards(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self.swallow_next_commit and b"COMMIT\0" in data:
                    self.swallow_next_commit = False
                    client.shutdown(socket.SHUT_RDWR)  # the client hears no more …
                    self.await_before_commit()
                    server.sendall(data)  # … and the server commits
                    self.swallowed += 1
                    return
                server.sendall(data)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _downwards(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
