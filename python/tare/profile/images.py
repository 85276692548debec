"""The program that a process runs, and the libraries it has loaded, as images."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import PrivilegeMissing, TareError, UsageError
from tare.measure.rig import reason
from tare.profile.functions import Functions
from tare.profile.server import Server, mapped_files

if TYPE_CHECKING:
    from tare._probe import Image


def functions_of(server: Server) -> Functions:
    """Raises UsageError with the image's own words (stripped, another machine's, replaced on disk, not ELF), or
    PrivilegeMissing."""
    from tare._probe import Image

    with in_our_words():
        program = Image(server.library) if server.library else Image.of_process(server.pid)
        program.check(server.pid)
    return Functions(program, lambda name: _library(server.pid, name))


@contextmanager
def in_our_words() -> Iterator[None]:
    """What the probe refuses within the block becomes an error of ours."""
    from tare._probe import ProbeError

    try:
        yield
    except ProbeError as error:
        raise refused(error) from None


def refused(error: OSError) -> TareError:
    """The probe's own words: what happened, on what, and what to do."""
    what, step = reason(error)
    if error.errno in (errno.EPERM, errno.EACCES):
        return PrivilegeMissing(what, step or "run Tare as root or as the server's user")
    return UsageError(what, step)


def _library(pid: int, name: str) -> Image | None:
    """The loaded file of this name, or of this name and a version behind it; None where there is none to read."""
    from tare._probe import Image, ProbeError

    for file in mapped_files(pid):
        if Path(file).name == name or Path(file).name.startswith(f"{name}."):
            try:
                return Image(file)
            except ProbeError:
                return None
    return None
