"""The ways to watch functions, as the benchmarks of the profiler take them: which build of a program each needs, how
the program is started, and what records it."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from benchmarks.planted.build import NotBuilt, Program
from tare._probe import Function, Image, ProbeError, ProfileRecorder, prepare_agent
from tare.profile.launch import FOLDER, User, library

MEMORY = Path("/dev/shm")
STARTED_WITHIN_S = 10.0
BACKENDS = ("agent", "xray", "attach")

Target = tuple[int, str, str, int, int, tuple[tuple[int, int], ...]]
Probe = tuple[int, str, bool, bool]


class Way:
    """A backend on one program. `folder` is its own: for a copy of the program, and the recording. Within its block
    it has a folder in memory, which the process and the recorder share."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self._user: User | None = None  # that the program runs as; None: as we are

    def __enter__(self) -> Way:
        self.shared = Path(tempfile.mkdtemp(prefix="tare-agent-", dir=MEMORY if MEMORY.is_dir() else None))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.shared, ignore_errors=True)

    def program(self, program: Program) -> Path:
        """Its own file, since a uprobe is on every process of one. Raises NotBuilt."""
        built = program.built_for_xray() if self.name == "xray" else program.plain()
        copy = self.folder / built.name
        if not copy.exists():
            shutil.copy(built, copy)
        return copy

    def prepare(
        self,
        program: Path,
        targets: Sequence[Target],
        triggers: Sequence[int] = (),
        owner: tuple[int, int] | None = None,
    ) -> None:
        """Before the process starts: the functions that may be watched, those of them at which it sees which are
        (without any, all are patched from the start), and the user and group it runs as."""
        if self.name != "attach":
            if owner is not None:
                self._user = User("", *owner)
                os.chown(self.shared, *owner)
            prepare_agent(str(self.shared), self.name, str(program), targets, triggers, owner)

    def environment(self) -> Mapping[str, str]:
        """For a process that is to be watched."""
        if self.name == "attach":
            return dict(os.environ)
        return {**os.environ, "LD_PRELOAD": str(library(self._user)), FOLDER: str(self.shared)}

    @contextmanager
    def in_children(self) -> Iterator[None]:
        """For processes that are started within the block by others than us."""
        before = dict(os.environ)
        os.environ.update(self.environment())
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def recorder(self, pid: int, file: Path) -> ProfileRecorder:
        if self.name == "attach":
            return ProfileRecorder.attach(str(file), [pid], True)
        if self.name == "agent":
            return ProfileRecorder.agent(str(file), str(self.shared))
        return ProfileRecorder.xray(str(file), str(self.shared))


@contextmanager
def recording(way: Way, pid: int, file: Path) -> Iterator[ProfileRecorder]:
    recorder = way.recorder(pid, file)
    try:
        _await_start(recorder)
        yield recorder
    finally:
        recorder.stop()


def _await_start(recorder: ProfileRecorder) -> None:
    """Until the process has loaded the library: it may have been started this very moment."""
    until = time.monotonic() + STARTED_WITHIN_S
    while True:
        try:
            recorder.set([], [], "timing", "starting", 0)
            return
        except ProbeError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def targets(program: Path, names: Sequence[str]) -> list[Target]:
    """Numbered from 1, in this order."""
    image = Image(program)
    return numbered(image, [function for name in names for function in image.find(name)])


def numbered(image: Image, functions: Sequence[Function]) -> list[Target]:
    """Functions of one binary, from 1 on."""
    return [
        (number, one.name, image.path, one.address, one.size, tuple(one.parts))
        for number, one in enumerate(functions, start=1)
    ]


def timed(some: Sequence[Target]) -> list[Probe]:
    """Entry and exit of each."""
    return [(one[0], "site", False, False) for one in some]


def owner_of(directory: Path) -> tuple[int, int]:
    """User and group of a server's directory: those that it runs as."""
    found = directory.stat()
    return found.st_uid, found.st_gid


def missing(names: Sequence[str], program: Program, folder: Path) -> dict[str, str]:
    """Backends that cannot be here, with why."""
    found = {}
    for name in names:
        try:
            Way(name, folder).program(program)
        except NotBuilt as why:
            found[name] = str(why)
    if "attach" in names and os.geteuid() != 0:
        found["attach"] = "it needs root"
    return found


def settle() -> None:
    """Until what was asked of a process's agent has been done there: it looks every few ms."""
    time.sleep(0.1)
