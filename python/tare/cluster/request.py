"""Request for a cluster, checked before anything is made."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tare.cluster.quota import LEAST_CPUS
from tare.cluster.record import Limits
from tare.dbms.servers.owner import Owner, closed_to
from tare.errors import UsageError

MOST_SHARDS = 64
LEAST_DISK = 256 << 20
LEAST_MEMORY = 64 << 20
LEAST_RATE = 10**6
MOST_READ_AHEAD = 1 << 20
DEFAULT_DISK = 8 << 30
"""Size of a disk. Its file is sparse: it takes what is written to it."""

_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")
_SOCKET_MOST = 107  # bytes of a socket's path
_SOCKET = "s99/socket/.s.PGSQL.5432"


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """Request of a user."""

    engine: str
    name: str
    shards: int
    limits: Limits = field(default_factory=lambda: Limits(DEFAULT_DISK))
    directory: Path | None = None
    version: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    quota_now: bool = False

    def check(self) -> None:
        """Raise UsageError for a value that no cluster can have."""
        check_name(self.name)
        limits = self.limits
        _within("--shards", self.shards, 1, MOST_SHARDS, "shards")
        _within("--disk-size", limits.disk_bytes / (1 << 30), LEAST_DISK / (1 << 30), 65_536, "GiB")
        if limits.cpus is not None:
            _within("--cpus", limits.cpus, LEAST_CPUS, 1024, "CPUs")
        elif self.quota_now:
            raise UsageError("--quota-now needs a quota", "give --cpus, too")
        if limits.memory_bytes is not None:
            _within("--memory", limits.memory_bytes / (1 << 20), LEAST_MEMORY / (1 << 20), 1 << 30, "MiB")
        if limits.rate_bits is not None:
            _within("--rate", limits.rate_bits / 10**6, LEAST_RATE / 10**6, 400_000, "Mbit")
        if limits.read_ahead_kib is not None:
            _within("--read-ahead", limits.read_ahead_kib, 0, MOST_READ_AHEAD, "KiB")

    def place(self, tag: str, owner: Owner) -> tuple[Path, bool]:
        """Return the directory of the cluster, and whether it exists already. Raises UsageError for one that cannot
        be used."""
        directory = self.directory or Path(tempfile.gettempdir(), f"tare-cluster-{self.name}-{tag}")
        directory = directory.absolute()
        closed = closed_to(owner, directory / "file")
        if closed is not None:
            raise UsageError(
                f"the servers run as the user {owner.name}, who may not enter {closed}",
                "choose a --dir that every user can reach, e.g. below /var/tmp",
            )
        if len(os.fsencode(directory / _SOCKET)) > _SOCKET_MOST:
            raise UsageError(f"the path {directory} is too long for a socket in it", "choose a shorter --dir")
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UsageError(f"{directory} is not an empty directory", "choose an empty or a new --dir")
        return directory, directory.exists()


def check_name(name: str) -> None:
    """Raise UsageError for a name that no cluster can have."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f'"{name}" is no name of a cluster',
            "take 1 to 16 small letters and digits, a letter first",
        )


def _within(option: str, value: float, least: float, most: float, unit: str) -> None:
    if not least <= value <= most:
        raise UsageError(
            f"{option} is {value:g} {unit}, outside of {least:g} to {most:g} {unit}",
            f"give at least {least:g} {unit} and at most {most:g} {unit}",
        )
