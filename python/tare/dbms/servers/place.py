"""The directory of a throw-away server: made, checked, and removed again if the start fails."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.dbms.servers.owner import Owner, closed_to
from tare.errors import ServerFailed

_PREFIX = "tare-"
_SOCKET_MOST = 107  # bytes of a socket's path: sun_path without its closing zero
_SOCKET_NAME = ".s.PGSQL.65535"  # the longest name of a socket that any of our servers makes


@dataclass(frozen=True, slots=True)
class Place:
    directory: Path
    sockets: Path
    temporary: bool


@contextmanager
def new(directory: Path | None, owner: Owner, kind: str) -> Iterator[Place]:
    """Yields an empty directory of the owner's; whatever was made goes if the body fails."""
    temporary = directory is None
    made: list[Path] = []
    try:
        if directory is None:
            directory = _temporary(owner, f"{_PREFIX}{kind}-", made)
        else:
            directory = directory.absolute()
            existed = _check(directory, owner)
            if not existed:
                directory.mkdir(mode=0o700, parents=True)
                made.append(directory)
            give(directory, owner)
        sockets = directory
        if len(os.fsencode(directory / _SOCKET_NAME)) > _SOCKET_MOST:
            sockets = _temporary(owner, _PREFIX, made)
        try:
            yield Place(directory, sockets, temporary)
        except BaseException:
            if directory not in made:  # it was there, empty: leave it so
                for path in directory.iterdir():
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
            raise
    except OSError as error:
        _remove(made)
        raise ServerFailed(
            f"the server's directory {directory or ''} could not be made: {error}",
            "choose another --dir, with free space and write permission",
        ) from error
    except BaseException:
        _remove(made)
        raise


def _check(directory: Path, owner: Owner) -> bool:
    """Whether it is there. Refuses what is not an empty directory, and one the owner cannot reach."""
    closed = closed_to(owner, directory)
    if closed is not None:
        raise ServerFailed(
            f"the server runs as the user {owner.name}, who may not enter {closed}",
            "choose a --dir that every user can reach, e.g. below /tmp or /var/tmp",
        )
    if not directory.exists():
        return False
    if not directory.is_dir():
        raise ServerFailed(f"{directory} is no directory", "choose another --dir")
    if any(directory.iterdir()):
        raise ServerFailed(
            f"{directory} is not empty and holds no server of Tare's", "choose an empty or a new --dir"
        )
    return True


def _temporary(owner: Owner, prefix: str, made: list[Path]) -> Path:
    path = Path(tempfile.mkdtemp(prefix=prefix))
    made.append(path)
    closed = closed_to(owner, path)
    if closed is not None:
        raise ServerFailed(
            f"the server runs as the user {owner.name}, who may not enter {closed}",
            "set TMPDIR to a directory that every user can reach, or give --dir",
        )
    give(path, owner)
    return path


def temporary_directories(within: str) -> list[Path]:
    """Return directories in which servers without one of their own may be."""
    return sorted(path for path in Path(within).glob(f"{_PREFIX}*-*") if path.is_dir())


def give(path: Path, owner: Owner) -> None:
    """Only the owner (and root) may enter: this is what guards a server without passwords."""
    if owner.switch:
        os.chown(path, owner.uid, owner.gid)
    path.chmod(0o700)


def _remove(made: list[Path]) -> None:
    for path in made:
        shutil.rmtree(path, ignore_errors=True)
