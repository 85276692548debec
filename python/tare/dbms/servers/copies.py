"""Copies of a server's programs: where its own user cannot reach them, and where what is done to their files is to
touch no other server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.dbms.servers.binaries import WHEEL, Install
from tare.errors import ServerFailed

_OWN = "programs"


def copied(install: Install, to: Path) -> Path:
    """The folder of programs beneath `to`, readable by all. The wheel's come with the libraries beside them, in the
    layout that their search paths expect; others find theirs where they were installed. Raises OSError."""
    if install.wheel:
        tree = install.binaries.parent
        libraries = tree.parent.with_name(f"{WHEEL}.libs")
        shutil.copytree(tree, to / WHEEL / tree.name, symlinks=True)
        if libraries.is_dir():
            shutil.copytree(libraries, to / libraries.name, symlinks=True)
    else:
        shutil.copytree(install.binaries, to / "bin")
    _open_to_all(to)
    return within(install, to)


def copied_file(file: Path, to: Path) -> Path:
    """A copy of one file in the folder `to`, readable by all. Raises OSError."""
    copy = Path(shutil.copy(file, to))
    _open_to_all(to)
    return copy


def within(install: Install, to: Path) -> Path:
    """Return the directory into which `copied` puts the programs."""
    return to / WHEEL / install.binaries.parent.name / "bin" if install.wheel else to / "bin"


def own(install: Install, directory: Path) -> Path:
    """Programs of a server's own, in its directory. Raises ServerFailed."""
    with _copying(install.binaries, directory):
        return copied(install, directory / _OWN)


def own_program(program: Path, directory: Path) -> Path:
    """The same of a single program, whose folder is not only its own. Raises ServerFailed."""
    folder = directory / _OWN
    with _copying(program, directory):
        folder.mkdir()
        copied_file(program, folder)
    return folder


def own_folder(programs: Path, directory: Path) -> Path:
    """The same of a folder that holds one server's programs and nothing else."""
    with _copying(programs, directory):
        shutil.copytree(programs, directory / _OWN)
        _open_to_all(directory / _OWN)
    return directory / _OWN


@contextmanager
def _copying(what: Path, directory: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, shutil.Error) as error:
        raise ServerFailed(
            f"{what} could not be copied to {directory}: {error}",
            "free space there, choose another --dir, or leave out --own-programs",
        ) from error


def are_own(binaries: Path, directory: Path) -> bool:
    return binaries.is_relative_to(directory / _OWN)


def _open_to_all(root: Path) -> None:
    """a+rX, on the copy."""
    root.chmod(0o755)
    for path in root.rglob("*"):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))
