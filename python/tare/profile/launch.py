"""Starting a program under the agent's library, so that its functions can be watched from within."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms.known import SERVERS
from tare.dbms.servers.owner import Owner
from tare.dbms.servers.reach import readable_by
from tare.errors import ServerFailed, UsageError
from tare.profile.images import in_our_words

if TYPE_CHECKING:
    from tare._probe import Image
    from tare.profile.functions import Target

LIBRARY = "libtare_agent.so"
FOLDER = "TARE_AGENT"
"""Environment: the folder of shared memory by which the library and we talk."""

PRELOADED = ("agent", "xray", "annotation")
"""Backends that need the library in the process from its start."""

_SHARED = Path("/dev/shm")
_PREFIX = "tare-agent-"
_STARTED_S = 5.0
_STOP_S = 30.0


@dataclass(frozen=True, slots=True)
class User:
    """Whom the program runs as."""

    name: str
    uid: int
    gid: int


def user(name: str | None) -> User | None:
    """None: as we are. Raises UsageError."""
    if name is None:
        return None
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"--user {name}: there is no such user", "getent passwd lists them") from None
    if os.geteuid() not in (0, entry.pw_uid):
        raise UsageError(f"--user {name}: only root can start programs as others", "leave it out, or be root")
    return User(name, entry.pw_uid, entry.pw_gid)


def library(as_user: User | None = None) -> Path:
    """The agent's library: the one beside this package, or a copy where this user cannot read that. Raises UsageError
    where it was not built, ServerFailed where it cannot be copied."""
    path = Path(str(files("tare"))) / LIBRARY
    if not path.is_file():
        raise UsageError(
            f"{path} is not there: this Tare was built without its agent",
            "install Tare again on x86-64 Linux (pip install .), or use the attach backend: tare profile attach",
        )
    if as_user is None:
        return path
    return readable_by(Owner(as_user.name, as_user.uid, as_user.gid, switch=os.geteuid() == 0), path)


def found(name: str) -> Path:
    """The file of a program, by its name or path. Raises UsageError."""
    path = shutil.which(name)
    if path is None:
        raise UsageError(f"there is no program {name}", "check its name, or give the path of the program")
    return Path(path).resolve()


def program(command: Sequence[str]) -> Path:
    """Return the program that COMMAND runs. Raises UsageError for a script."""
    path = found(command[0])
    with path.open("rb") as stream:
        if stream.read(2) == b"#!":
            raise UsageError(
                f"{path} is a script: its functions are its interpreter's",
                "name the program that it starts, e.g. postgres rather than pg_ctl",
            )
    return path


def refuse_static(image: Image) -> None:
    """Raises UsageError for a program that no library can be preloaded into."""
    if not image.preloadable:
        raise UsageError(
            f"{image.path} is linked statically: no library can be preloaded into it",
            "link it dynamically, or start it as usual and use tare profile attach",
        )


class Launched:
    """A program that runs under us, in a process group of its own."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, path: Path) -> None:
        self._process = process
        self.folder = folder
        # PostgreSQL waits for its clients after SIGTERM; a SIGINT is a fast shutdown.
        quickly = SERVERS.get(path.name) == "postgresql"
        self._ends = (signal.SIGINT, signal.SIGQUIT) if quickly else (signal.SIGTERM,)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def stop(self) -> None:
        """In its own way, then harder."""
        for number in (*self._ends, signal.SIGKILL):
            if self.ended is not None:
                return
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_S)


@contextmanager
def launched(
    command: Sequence[str],
    backend: str,
    as_user: User | None,
    targets: Sequence[Target] = (),
    triggers: Sequence[int] = (),
    *,
    keep: bool = False,
) -> Iterator[Launched]:
    """Within the block it runs, with the agent's library in it. `targets`: all functions that may ever be watched;
    `triggers`: see `tare._probe.prepare_agent`; `keep`: it goes on after the block.

    Raises UsageError and ServerFailed."""
    path = program(command)
    preload = library(as_user)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_SHARED if _SHARED.is_dir() else None))
    made: Launched | None = None
    try:
        _prepared(folder, backend, path, targets, triggers, as_user)
        made = Launched(_started(path, command, folder, preload, as_user), folder, path)
        yield made
    finally:
        if made is not None and not keep:
            made.stop()
        if made is None or made.ended is not None:
            shutil.rmtree(folder, ignore_errors=True)


def forget(folder: str) -> None:
    """Removes an agent's memory that nobody uses any more. A profile of another hand's making may name any folder."""
    path = Path(folder)
    if path.name.startswith(_PREFIX) and path.parent in (_SHARED, Path(tempfile.gettempdir())):
        shutil.rmtree(path, ignore_errors=True)


def _prepared(
    folder: Path,
    backend: str,
    path: Path,
    targets: Sequence[Target],
    triggers: Sequence[int],
    as_user: User | None,
) -> None:
    """The table of functions that the library reads when the program starts."""
    from tare._probe import prepare_agent

    owner = None if as_user is None else (as_user.uid, as_user.gid)
    if owner is not None:
        os.chown(folder, *owner)
    with in_our_words():
        prepare_agent(str(folder), backend, str(path), targets, triggers, owner)


def _started(
    path: Path, command: Sequence[str], folder: Path, preload: Path, as_user: User | None
) -> subprocess.Popen[bytes]:
    others = os.environ.get("LD_PRELOAD", "")
    environment = os.environ | {
        "LD_PRELOAD": f"{preload}:{others}" if others else str(preload),
        FOLDER: str(folder),
    }
    try:
        return subprocess.Popen(
            [str(path), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # standard output is for the report
            env=environment,
            start_new_session=True,  # our Ctrl-C ends the profile first, then we end the program
            user=None if as_user is None else as_user.uid,
            group=None if as_user is None else as_user.gid,
            extra_groups=None if as_user is None else [],
        )
    except OSError as error:
        raise ServerFailed(
            f"{path} could not be started: {error.strerror}", "check its permissions, and --user's"
        ) from error
