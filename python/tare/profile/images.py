"""The program that a process runs, and the libraries it has loaded, as images."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import PrivilegeMissing, TareError, UsageError, cause_and_step
from tare.profile.functions import Functions, is_runtime
from tare.profile.server import DELETED, Server, mapped_files, mappings

if TYPE_CHECKING:
    from tare._probe import Image

LARGE = 64 << 20
"""Bytes of a library that is not looked through for functions called by pointer: compilers and their like."""


def functions_of(server: Server) -> Functions:
    """Return the functions of the program and of the libraries that it has loaded.

    Raises UsageError with the image's own words (no function has a name, another machine's, not ELF), or
    PrivilegeMissing."""
    from tare._probe import Image

    with in_our_words():
        program = (
            Image(readable(server.pid, server.library)) if server.library else Image.of_process(server.pid)
        )
        program.check(server.pid)
    plugins = Plugins(server.pid, program)
    if not _has_names(program) and not any(map(_has_names, plugins.loaded())):
        with in_our_words():
            program.require_names()
    return Functions(program, lambda name: _library(server.pid, name), plugins.loaded, server.pid)


class Plugins:
    """Libraries of a process that may hold a part of the server's own work; each is read once."""

    def __init__(self, pid: int, program: Image) -> None:
        self._pid = pid
        self._program = program
        self._read: dict[str, Image | None] = {}

    def loaded(self) -> list[Image]:
        """Images of those that are loaded now, the smallest files first. One that cannot be read is left out."""
        from tare._probe import Image, ProbeError

        program = Path(self._program.path)
        for file in mapped_files(self._pid):
            if file in self._read or is_runtime(file) or file == str(program):
                continue
            self._read[file] = None
            path = readable(self._pid, file)
            with suppress(ProbeError, OSError):
                if path.stat().st_size <= LARGE and not path.samefile(program):
                    self._read[file] = Image(path)
        images = [image for image in self._read.values() if image is not None]
        return sorted(images, key=lambda image: len(image.functions()))


@contextmanager
def in_our_words() -> Iterator[None]:
    """Block in which refusals of the probe become errors of Tare."""
    from tare._probe import ProbeError

    try:
        yield
    except ProbeError as error:
        raise refused(error) from None


def refused(error: OSError) -> TareError:
    """The probe's own words: what happened, on what, and what to do."""
    what, step = cause_and_step(error)
    if error.errno in (errno.EPERM, errno.EACCES):
        return PrivilegeMissing(what, step or "run Tare as root or as the server's user")
    return UsageError(what, step)


def _has_names(image: Image) -> bool:
    return image.counts["symbols"] + image.counts["inferred"] > 0


def readable(pid: int, file: str) -> Path:
    """A path at which a mapped file can be read: the kernel's link to it where its own path names another by now."""
    link = next((link for link, path in mappings(pid) if path == file), None)
    own = Path(file)
    with suppress(OSError):
        if link is not None and not (own.exists() and own.samefile(link)):
            return link
    return own


def _library(pid: int, name: str) -> Image | None:
    """The loaded file of this name, or of this name and a version behind it; None where there is none to read."""
    from tare._probe import Image, ProbeError

    for file in mapped_files(pid):
        plain = Path(file.removesuffix(DELETED)).name
        if plain == name or plain.startswith(f"{name}."):
            try:
                return Image(readable(pid, file))
            except ProbeError:
                return None
    return None
