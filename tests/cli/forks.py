"""`tare` without its start: one process loads the modules, and becomes the command once for each request, in a fork.

To start Python and load Tare takes some 0.6 s of CPU a command, and the tests give more than a thousand. A fork has
arguments, environment, folder and standard streams of its own, and ends as a program does. What it does not show is
the start itself (tests/cli/test_start.py) and a module that nobody loads: the command finds all of them loaded.

Run as a program it serves the socket that is its standard input, until that is closed.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tests.cli.started import PART, Started

LOADED = (
    *("alembic.command", "duckdb", "encodings.ascii", "ibis.backends.duckdb", "numpy", "psycopg"),
    *("pyarrow.parquet", "scipy.special", "sqlalchemy.dialects.postgresql.psycopg"),
    "sqlalchemy.dialects.sqlite",
)
NO_MODULES = ("tare.__main__", "tare.lab.migrations.env", "tare.libtare_agent")
"""Files of Tare that are run or used by others, not loaded."""

# numpy's and pyarrow's libraries start threads when they are loaded, and forks would lack them.
NO_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
MESSAGE = 1 << 20  # bytes, at most
READ_LATE = {
    *("COLUMNS", "PGPASSWORD", "PGSERVICEFILE", "PYTEST_CURRENT_TEST"),
    *("TARE_DB", "TARE_LAB", "TARE_PROFILES", "TARE_TUNINGS", "XDG_STATE_HOME"),
}
"""Variables that no module reads when it is loaded: a fork may have others than the first ones."""


class Forks:
    """A process that serves, started at the first request. It ends with this one, and so do commands under way."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._ours: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()

    def serves(self, environment: Mapping[str, str]) -> bool:
        """Modules read some variables when they are loaded: others than the first ones need a real start."""
        return _read_early(environment) == _read_early(self._environment)

    def run(
        self, words: Sequence[str], environment: Mapping[str, str], timeout: float
    ) -> tuple[int, str, str]:
        """Exit code, standard output and error. Raises subprocess.TimeoutExpired, the command killed."""
        out, err = (os.memfd_create(name) for name in ("out", "err"))
        try:
            command = Started(words, *self._begin("tare", words, environment, out, err))
            try:
                code = command.wait(timeout)
            except subprocess.TimeoutExpired:
                command.kill()
                raise subprocess.TimeoutExpired(list(words), timeout, _text(out), _text(err)) from None
            return code, _text(out), _text(err)
        finally:
            for one in (out, err):
                os.close(one)

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        program: str = "tare",
        stderr: TextIO | None = None,
    ) -> Started:
        """Begin a command that is looked at, signalled or killed while it runs. `program` is a module. Standard
        output is a pipe, and so is standard error unless a file is given."""
        from_out, out = os.pipe()
        from_err, err = os.pipe() if stderr is None else (None, os.dup(stderr.fileno()))
        try:
            begun = self._begin(program, words, environment, out, err)
        finally:
            for one in (out, err):
                os.close(one)
        return Started(words, *begun, os.fdopen(from_out), None if from_err is None else os.fdopen(from_err))

    def _begin(
        self, program: str, words: Sequence[str], environment: Mapping[str, str], out: int, err: int
    ) -> tuple[int, int, socket.socket]:
        """Return the process id, a descriptor of the process, and a socket that receives its exit code."""
        request = {
            "program": program,
            "words": list(words),
            "environment": dict(environment),
            "folder": str(Path.cwd()),
        }
        mine, reply = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with reply:
            socket.send_fds(self._served(), [json.dumps(request).encode()], [0, out, err, reply.fileno()])
        pid, descriptors, _, _ = socket.recv_fds(mine, PART, 1)
        assert pid, f"tests.cli.forks has ended with {self._server and self._server.wait(10)}"
        os.set_inheritable(descriptors[0], False)
        return int(pid), descriptors[0], mine

    def close(self) -> None:
        """End the process that serves, and with it all commands under way."""
        with self._starting:
            if self._ours is not None and self._server is not None:
                self._ours.close()
                self._ours = None
                self._server.wait(60)

    def _served(self) -> socket.socket:
        with self._starting:
            if self._ours is None:
                self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MESSAGE)
                self._server = subprocess.Popen(
                    [sys.executable, "-m", "tests.cli.forks"],
                    stdin=theirs,
                    stdout=subprocess.DEVNULL,
                    cwd=Path(__file__).parents[2],
                    env=self._environment | NO_THREADS,
                )
                theirs.close()
            return self._ours


def _read_early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in READ_LATE}


def _text(file: int) -> str:
    with open(file, closefd=False) as stream:
        stream.seek(0)
        return stream.read()


def _serve() -> str:
    """Returns a program's name in a fork that is to be the program, and never in the process that serves."""
    control = socket.socket(fileno=os.dup(0))
    running: dict[int, tuple[int, socket.socket]] = {}  # by descriptor: a process, who receives its end
    while True:
        ready, _, _ = select.select([control, *running], [], [])
        for ended in (one for one in ready if one in running):
            pid, asker = running.pop(ended)
            _, status = os.waitpid(pid, 0)
            with suppress(BrokenPipeError):  # nobody waits for a command that took too long
                asker.send(str(os.waitstatus_to_exitcode(status)).encode())
            asker.close()
            os.close(ended)
        if control in ready:
            message, descriptors, _, _ = socket.recv_fds(control, MESSAGE, 4)
            if not message:  # who asked has ended
                for pid, _ in running.values():
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                for descriptor, (_, asker) in running.items():
                    os.close(descriptor)
                    asker.close()
                control.close()
                return _become(json.loads(message), descriptors)
            asker = socket.socket(fileno=descriptors.pop())
            process = os.pidfd_open(pid)
            running[process] = pid, asker
            with suppress(BrokenPipeError):
                socket.send_fds(asker, [str(pid).encode()], [process])
            for descriptor in descriptors:
                os.close(descriptor)


def _become(request: dict[str, object], descriptors: list[int]) -> str:
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    _reopen_streams()
    os.chdir(str(request["folder"]))
    environment = request["environment"]
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    program, words = request["program"], request["words"]
    assert isinstance(program, str)
    assert isinstance(words, list)
    sys.argv = [program, *words]
    return program


def _reopen_streams() -> None:
    """Give the standard streams new objects: the old ones remember whether other files could seek."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        file = os.fdopen(number, "wb" if number else "rb", closefd=False)
        new = io.TextIOWrapper(file, old.encoding, old.errors, line_buffering=old.line_buffering)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def load() -> None:
    """Load what a command may need, and all of Tare."""
    import importlib
    import pkgutil

    import tare

    for name in LOADED:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(tare.__path__, "tare."):
        if module.name not in NO_MODULES:
            importlib.import_module(module.name)


def main() -> None:
    import gc

    load()
    if threading.active_count() > 1 or len(list(Path("/proc/self/task").iterdir())) > 1:
        raise SystemExit("tests.cli.forks: a module started a thread when it was loaded: forks would lack it")
    gc.freeze()
    program = _serve()
    code: object = 1
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as done:
        code = done.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    # Not the interpreter's own end, which would touch, and so copy, every page of what is loaded.
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main()
