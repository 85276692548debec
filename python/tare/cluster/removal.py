"""Removal of a cluster's resources from its journal: each step may be repeated, and may find its work done."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tare.cluster import cgroups, system
from tare.cluster.journal import Journal, Kind, Resource
from tare.errors import ServerFailed

_KILL_S = 30.0
NAMESPACES = Path("/run/netns")


def remove(journal: Journal) -> None:
    """Kill the cluster's processes and remove what its journal names, last made first; then the journal.

    Raises ServerFailed with what stays behind; the journal is kept then, so that the next stop tries again."""
    resources = journal.resources()
    kill(resources)
    failures = []
    for resource in reversed(resources):
        try:
            _STEPS[resource.kind](resource)
        except (OSError, ServerFailed) as error:
            failures.append(f"{resource.kind} {resource.name}: {error}")
    if failures:
        raise ServerFailed(
            "some of the cluster could not be removed:\n    " + "\n    ".join(failures),
            "correct the cause, then run `tare cluster stop` again",
        )
    shutil.rmtree(journal.folder, ignore_errors=True)


def kill(resources: Sequence[Resource]) -> None:
    """Kill every process in the cluster's cgroups and namespaces. Raises ServerFailed if some stay."""
    end = time.monotonic() + _KILL_S
    while living := processes(resources):
        if time.monotonic() > end:
            raise ServerFailed(
                f"processes {sorted(living)} do not end after SIGKILL",
                "wait for their I/O to end, then run `tare cluster stop` again",
            )
        for pid in living:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def processes(resources: Sequence[Resource]) -> set[int]:
    found: set[int] = set()
    for resource in resources:
        if resource.kind is Kind.CGROUP:
            found.update(cgroups.processes(Path(resource.name)))
        elif resource.kind is Kind.NAMESPACE and (NAMESPACES / resource.name).exists():
            with suppress(ServerFailed):  # a namespace whose making was cut short is an empty file
                found.update(map(int, system.run("ip", "netns", "pids", resource.name).split()))
    return found - {os.getpid()}


def _remove_namespace(resource: Resource) -> None:
    """Remove the namespace, and with it its links and their queueing disciplines."""
    path = NAMESPACES / resource.name
    if path.exists() and not system.succeeds("ip", "netns", "delete", resource.name):
        path.unlink()


def _remove_cgroup(resource: Resource) -> None:
    folder = Path(resource.name)
    for _ in range(100):
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:  # busy for a moment after its last process
            time.sleep(0.05)
    folder.rmdir()


def _remove_mount(resource: Resource) -> None:
    while Path(resource.name).is_mount():
        system.run("umount", resource.name)


def _remove_loop(resource: Resource) -> None:
    for device in loop_devices(Path(resource.name)):
        system.run("losetup", "--detach", device)


def _restore_read_ahead(resource: Resource) -> None:
    with suppress(FileNotFoundError):
        Path(resource.name).write_text(resource.former)


def _remove_directory(resource: Resource) -> None:
    path = Path(resource.name)
    if path.exists():
        shutil.rmtree(path)


def loop_devices(file: Path) -> list[str]:
    if not file.exists():
        return []
    listing = system.run("losetup", "--associated", file, "--noheadings", "--output", "NAME")
    return listing.split()


_STEPS: dict[Kind, Callable[[Resource], None]] = {
    Kind.DIRECTORY: _remove_directory,
    Kind.NAMESPACE: _remove_namespace,
    Kind.CGROUP: _remove_cgroup,
    Kind.LOOP: _remove_loop,
    Kind.READ_AHEAD: _restore_read_ahead,
    Kind.MOUNT: _remove_mount,
}
