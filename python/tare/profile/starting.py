"""A program started with the agent's library, as the subject of a profile; the load that was asked for beside it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.known import SERVERS
from tare.dbms.redaction import redacted_command
from tare.errors import ServerFailed, UsageError
from tare.profile import launch, told
from tare.profile.conduct import Opened, Subject, did_not_run, transactions_of
from tare.profile.functions import Functions, Target
from tare.profile.images import in_our_words
from tare.profile.load import Load
from tare.profile.request import Asked
from tare.profile.server import BY_PROCESS, Server, mapped_files
from tare.profile.worth import worth_a_detour

if TYPE_CHECKING:
    from tare._probe import Image, ProfileRecorder

WAIT_S = 120.0
"""For the first transaction: the program starts, perhaps recovers, and then its load begins."""

_VERSION_S = 10.0
_LOADED_S = 20.0
_AGAIN_S = 0.1
_LIBRARIES = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/local/lib")

Watch = Callable[[told.Told], None]


@dataclass(frozen=True)
class Started:
    subject: Subject
    watch: Watch  # to be told what happens


@contextmanager
def subject(
    asked: Asked,
    command: Sequence[str],
    backend: str,
    *,
    user: str | None,
    load: str | None,
    keep: bool,
) -> Iterator[Started]:
    """Within the block the program and its load run; `keep`: the program runs on. Raises UsageError, ServerFailed."""
    as_user = launch.user(user)
    path = launch.program(command)
    dbms = _dbms(path)
    functions = functions_of(path)
    launch.refuse_static(functions.program)
    expected = Server(0, None, dbms, _version(path, as_user) if dbms else "")
    found = transactions_of(asked, expected, functions)
    for name in asked.functions:  # a typing error is told before anything is started
        functions.named(name)
    with (
        launch.launched(
            command, backend, as_user, targets_of(functions, backend), found.triggers, keep=keep
        ) as started,
        Load(load) as beside,
    ):
        server = replace(expected, pid=started.pid, born=local.born_at(started.pid))
        yield Started(
            Subject(
                server=server,
                functions=functions,
                transactions=found,
                backend=backend,
                opened=lambda path: _loaded(path, _opened(backend, started.folder), started),
                shown=" ".join(redacted_command(command)),
                folder=started.folder,
                exit_code=lambda: started.ended,
            ),
            beside.hear,
        )


def functions_of(path: Path) -> Functions:
    """Return the functions of a program that does not run yet. Raises UsageError in the image's own words."""
    from tare._probe import Image

    with in_our_words():
        return Functions(Image(path), _library)


def targets_of(functions: Functions, backend: str) -> list[Target]:
    """All that may ever be watched: what is known by now, and the program's functions."""
    image = functions.program
    for one in image.functions() if backend != "agent" else worth_a_detour(image):
        if one.name and not one.no_return:
            functions.number(one)
    return [one.target() for one in functions.known()]


def _opened(backend: str, folder: Path) -> Opened:
    from tare._probe import ProfileRecorder

    by: dict[str, Opened] = {
        "agent": lambda path: ProfileRecorder.agent(path, str(folder)),
        "xray": lambda path: ProfileRecorder.xray(path, str(folder)),
        "annotation": lambda path: ProfileRecorder.annotation(path, str(folder)),
    }
    return by[backend]


def _loaded(path: str, opened: Opened, started: launch.Launched) -> ProfileRecorder:
    """Once the library is in the process, which it is before the program's main function begins.

    Raises ServerFailed where the program has ended, or the library does not come to it."""
    deadline = time.monotonic() + _LOADED_S
    while True:
        recorder = opened(path)
        if recorder.alive():
            return recorder
        recorder.stop()
        Path(path).unlink(missing_ok=True)
        if started.ended is not None:
            raise did_not_run(started.ended)
        if time.monotonic() > deadline:
            raise ServerFailed(
                f"the agent's library was not loaded by process {started.pid} within {_LOADED_S:g} s",
                "start the program itself and no wrapper; a set-user-id program ignores LD_PRELOAD: use attach",
            )
        time.sleep(_AGAIN_S)


def _dbms(path: Path) -> str | None:
    dbms = SERVERS.get(path.name[:15])  # names of processes have 15 letters
    return "mariadb" if dbms == "mysql" else dbms


def _version(path: Path, as_user: launch.User | None) -> str:
    """Return the version that the program prints. Raises UsageError where PostgreSQL's is unknown: the numbers of its
    states depend on it."""
    switch = {} if as_user is None else {"user": as_user.uid, "group": as_user.gid, "extra_groups": []}
    try:
        said = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_S,
            check=False,
            stdin=subprocess.DEVNULL,
            **switch,  # type: ignore[call-overload]
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    number = re.search(r"\b(\d+(?:\.\d+)+|\d+(?=devel|beta|rc))", said)
    if number is not None:
        return number.group(1)
    if _dbms(path) in BY_PROCESS:
        raise UsageError(f"{path} --version does not tell its version: {said.strip()}", "take another --txn")
    return ""


def _library(name: str) -> Image | None:
    """The system's, which the program will most likely load."""
    from tare._probe import Image, ProbeError

    loaded = [Path(file) for file in mapped_files(os.getpid()) if Path(file).name.startswith(name)]
    system = [Path(folder, name) for folder in _LIBRARIES]
    for file in (*loaded, *system):
        if file.is_file():
            try:
                return Image(file.resolve())
            except ProbeError:
                return None
    return None
