"""Journal of a cluster: what it is about to make, noted before it is made, so that any later command can remove it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tare.errors import ServerFailed

ROOT = Path("/run/tare/clusters")


class Kind(StrEnum):
    """Kinds of resources that outlive the process which made them."""

    DIRECTORY = "directory"
    NAMESPACE = "namespace"
    CGROUP = "cgroup"
    LOOP = "loop"
    READ_AHEAD = "read_ahead"
    MOUNT = "mount"


@dataclass(frozen=True, slots=True)
class Resource:
    kind: Kind
    name: str  # path, or the namespace's name
    former: str = ""  # value to put back, of READ_AHEAD


class Journal:
    def __init__(self, cluster: str) -> None:
        self.folder = ROOT / cluster
        self._path = self.folder / "journal"

    def note(self, resource: Resource) -> None:
        """Append the resource and wait until the line is on disk. Call it before making the resource."""
        line = json.dumps([resource.kind, resource.name, resource.former]) + "\n"
        with self._path.open("a") as out:
            out.write(line)
            out.flush()
            os.fsync(out.fileno())

    def resources(self) -> list[Resource]:
        """Resources in the order in which they were noted. A last line cut by a crash was never acted on."""
        try:
            lines = self._path.read_text().splitlines()
        except FileNotFoundError:
            return []
        resources = []
        for line in lines:
            try:
                kind, name, former = json.loads(line)
            except ValueError:
                continue
            resources.append(Resource(Kind(kind), name, former))
        return resources


@contextmanager
def locked(cluster: str) -> Iterator[None]:
    """Hold the cluster's lock, which the kernel releases when its holder dies. Raises ServerFailed if it is taken."""
    ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    # The descriptor is not inherited (PEP 446), so servers that outlive this process do not keep the lock.
    with (ROOT / f"{cluster}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServerFailed(
                f"another command is starting or stopping the cluster {cluster}",
                "wait for it, or choose another --name",
            ) from None
        yield
