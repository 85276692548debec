"""Ways of watching functions that work here: each is tried, on a process of ours."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.profile import launch
from tare.profile.images import refused
from tare.profile.server import DELETED, mapped_files

if TYPE_CHECKING:
    from tare._probe import ProfileRecorder

SLEDS = b"xray_instr_map"
"""The section that clang's -fxray-instrument leaves."""

_IDLE = ("sleep", "30")
_PRELOADED = {
    "agent": "how many functions of another program can be watched shows when that starts",
    "annotation": "a program marks its own transactions, and no function is watched",
}
_LIBRARY = "libm.so"
_COUNTED = "cbrt"
_CALLS = 5


@dataclass(frozen=True, slots=True)
class Attempt:
    """A backend that was tried."""

    name: str
    works: bool
    says: str  # what was seen
    next_step: str  # what would make it work; empty if it does


def tried(command: Sequence[str] = ()) -> list[Attempt]:
    """Each backend; `command`: a program that it should work with."""
    return [
        _attempt("attach", lambda: _attached(command)),
        _attempt("agent", lambda: _preloaded("agent", command)),
        _attempt("xray", lambda: _sleds(command)),
        _attempt("annotation", lambda: _preloaded("annotation", command)),
    ]


def _attempt(name: str, trial: Callable[[], str]) -> Attempt:
    from tare._probe import ProbeError

    try:
        return Attempt(name, True, trial(), "")
    except ProbeError as error:
        failure: TareError = refused(error)
    except TareError as error:
        failure = error
    except OSError as error:
        failure = TareError(str(error))
    return Attempt(name, False, failure.what, failure.next_step)


def _attached(command: Sequence[str]) -> str:
    """Counts calls of a library's function in this process, in a copy that no other maps: a probe acts on the file."""
    from tare._probe import Image, ProfileRecorder

    if command:
        Image(launch.found(command[0]))
    mapped = [
        one for one in mapped_files(os.getpid()) if not one.endswith(DELETED)
    ]  # such as an earlier trial's
    library = next((one for one in mapped if Path(one).name.startswith(_LIBRARY)), None)
    if library is None:
        raise TareError(f"this Python has no {_LIBRARY} to try on", "try on a server: tare profile attach")
    with (
        tempfile.TemporaryDirectory(prefix="tare-trial-") as folder,
        _recorder(lambda path: ProfileRecorder.attach(path, [os.getpid()], False)) as recorder,
    ):
        copy = shutil.copy(library, folder)
        counted = getattr(ctypes.CDLL(copy), _COUNTED)
        image = Image(copy)
        target = image.find(_COUNTED)[0]
        recorder.set(
            [(1, target.name, image.path, target.address, target.size, target.parts)],
            [(1, "site", False, True)],
            "counting",
            "trial",
            0,
        )
        for _ in range(_CALLS):
            counted(ctypes.c_double(8))
        sleep(0.05)
        seen = recorder.calls().get(1, 0)
        if seen < _CALLS:
            raise TareError(
                f"{_CALLS} calls of {_COUNTED} were made, {seen} were counted",
                "look at `tare doctor` for what BPF may do here",
            )
        return f"{recorder.says}; {seen} calls counted in this process"


def _preloaded(backend: str, command: Sequence[str]) -> str:
    """Starts an idle program with the library in it."""
    from tare._probe import ProfileRecorder

    if command:
        launch.program(command)
    opened = {"agent": ProfileRecorder.agent, "annotation": ProfileRecorder.annotation}[backend]
    with launch.launched(_IDLE, backend, None) as idle:
        sleep(0.2)
        with _recorder(lambda path: opened(path, str(idle.folder))):
            return f"an idle program ran with the library in it; {_PRELOADED[backend]}"


def _sleds(command: Sequence[str]) -> str:
    launch.library()
    if not command:
        return "works with programs built by clang -fxray-instrument: name one to look for its sleds"
    path = launch.program(command)
    if SLEDS not in path.read_bytes():
        raise TareError(
            f"{path} has no sleds", "build it with clang -fxray-instrument -fxray-instruction-threshold=1"
        )
    return f"{path} has sleds"


@contextmanager
def _recorder(opened: Callable[[str], ProfileRecorder]) -> Iterator[ProfileRecorder]:
    with tempfile.TemporaryDirectory(prefix="tare-trial-") as folder:
        recorder = opened(str(Path(folder, "trial.tare")))
        with closing(SimpleNamespace(close=recorder.stop)):
            yield recorder
