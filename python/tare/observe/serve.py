"""Serves the observer on loopback until it is interrupted, at a low priority."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from tare.errors import UsageError
from tare.lab.store import Lab
from tare.observe.access import Rules
from tare.observe.app import Observer

NICENESS = 10
"""Beside a process of normal priority it gets a tenth of a CPU; pages are still made where every CPU is busy."""


def serve(
    lab: Lab,
    lab_name: str,
    rules: Rules,
    port: int,
    ready: Callable[[str], None],
    with_process: int | None = None,
) -> None:
    """Serve pages of the lab on 127.0.0.1; `port` 0: a free one. `ready` receives the address with the token.
    `with_process`: ends with this one. Raises UsageError if the port is taken."""
    os.nice(NICENESS)
    if with_process is not None:
        threading.Thread(target=_end_with, args=(with_process,), daemon=True).start()
    with _listening(port) as listening:
        config = uvicorn.Config(
            Observer(lab, lab_name, rules).app(),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        ready(f"http://127.0.0.1:{listening.getsockname()[1]}/?token={rules.token}")
        uvicorn.Server(config).run(sockets=[listening])


def _end_with(pid: int) -> None:
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        select.select([descriptor], [], [])
    os.kill(os.getpid(), signal.SIGTERM)


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # who reads the address may connect at once
    except OSError as error:
        listening.close()
        raise UsageError(
            f"port {port} of 127.0.0.1 cannot be taken: {error.strerror}", "give another --port, or none"
        ) from error
    return listening
