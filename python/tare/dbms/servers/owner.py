"""The ordinary user that a throw-away server runs as, and what that user can reach."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare.errors import ServerFailed


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    uid: int
    gid: int
    switch: bool  # we are root and must become this user

    def as_user(self) -> dict[str, Any]:
        """Arguments for subprocess. Servers refuse to run as root."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}


def choose(preferred: str) -> Owner:
    """Ourselves; or, as root, the first of `preferred` and `nobody` that exists."""
    if os.geteuid() != 0:
        return Owner(str(os.geteuid()), os.geteuid(), os.getegid(), switch=False)
    for name in (preferred, "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Owner(name, entry.pw_uid, entry.pw_gid, switch=True)
    raise ServerFailed(
        f"no ordinary user to run the server as: neither {preferred} nor nobody exists",
        "run Tare as an ordinary user",
    )


def of_directory(directory: Path) -> Owner:
    """Who a server of this directory runs as. Raises ServerFailed if it is root or another than us."""
    found = directory.stat()
    if found.st_uid == 0 or os.geteuid() not in (0, found.st_uid):
        raise ServerFailed(
            f"{directory} belongs to the user id {found.st_uid}",
            "run Tare as that user or as root; a server's directory must not belong to root",
        )
    return Owner(str(found.st_uid), found.st_uid, found.st_gid, switch=os.geteuid() == 0)


def closed_to(owner: Owner, path: Path) -> Path | None:
    """The first directory above `path` that the owner may not enter; None if the way is open."""
    if not owner.switch:
        return None
    for parent in reversed(path.absolute().parents):
        if parent.exists() and not _may(owner, parent, stat.S_IXUSR):
            return parent
    return None


def can_read(owner: Owner, paths: Sequence[Path]) -> bool:
    return all(closed_to(owner, path) is None and _may(owner, path, stat.S_IRUSR) for path in paths)


def _may(owner: Owner, path: Path, user_bit: int) -> bool:
    if not owner.switch:
        return os.access(path, os.R_OK if user_bit == stat.S_IRUSR else os.X_OK)
    found = path.stat()
    if found.st_uid == owner.uid:
        return bool(found.st_mode & user_bit)
    if found.st_gid == owner.gid:
        return bool(found.st_mode & (user_bit >> 3))
    return bool(found.st_mode & (user_bit >> 6))
