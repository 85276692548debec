"""The host process: one engine, one connection, commands one after the other.

Run as `python -m tare.dbms.embedded.host MODULE COMMANDS WATCH` with two inherited socket
descriptors. COMMANDS carries (operation, results no longer wanted, arguments) and gets
(True, value) or (False, error) back, pickled: both ends are ours. WATCH carries one byte for
each interrupt. When WATCH ends, the client is gone and so is the host, even in mid-query.
(PR_SET_PDEATHSIG would add nothing but a hazard: it fires when the *thread* that opened the
session ends.)

While a query runs, the watching thread sleeps in a read: the host has no timers and does
nothing beside the query.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from tare.dbms.embedded.engine import Engine, Result
from tare.errors import StatementFailed, TareError


class Host:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._results: dict[int, Result] = {}
        self._next = 0

    def answer(self, operation: str, released: tuple[int, ...], arguments: tuple[Any, ...]) -> Any:
        for number in released:
            self._results.pop(number, None)
        if operation in ("execute", "plan_and_execute"):
            result: Result = getattr(self._engine, operation)(*arguments)
            self._next += 1
            self._results[self._next] = result
            return self._next, result.row_count, result.planned, result.single_precision
        if operation == "rows":
            number, start, count = arguments
            return self._results[number].part(start, count)
        return getattr(self._engine, operation)(*arguments)


def watch(channel: socket.socket, engine: Engine) -> None:
    while channel.recv(1):
        engine.interrupt()
    os._exit(0)


def main() -> None:
    module, commands_fd, watch_fd = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's: it interrupts us
    engine: Engine = importlib.import_module(module).engine()
    host = Host(engine)
    channel = socket.socket(fileno=int(watch_fd))
    threading.Thread(target=watch, args=(channel, engine), daemon=True).start()
    commands = Connection(int(commands_fd))
    while True:
        try:
            operation, released, arguments = commands.recv()
        except (EOFError, OSError):
            os._exit(0)  # an engine's own farewell (DuckDB's) is not for the user's terminal
        reply: tuple[bool, Any]
        try:
            reply = (True, host.answer(operation, released, arguments))
        except TareError as error:
            reply = (False, error)
        except MemoryError:
            reply = (False, StatementFailed("the result does not fit into memory", "return fewer rows"))
        except Exception as error:  # the client must hear of it rather than wait
            reply = (False, StatementFailed(f"{type(error).__name__}: {error}", "report this as a bug"))
        try:
            commands.send(reply)
        except OSError:
            os._exit(0)


if __name__ == "__main__":
    main()
