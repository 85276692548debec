"""The PID namespace that /proc shows: ids in it must be those by which processes know each other here."""

from __future__ import annotations

from pathlib import Path

from tare.errors import UsageError

STATUS = Path("/proc/self/status")


def check_namespace(status: Path = STATUS) -> None:
    """Raise UsageError if /proc is that of another PID namespace: what it says of an id is about another process.

    `NSpid` has our id in each namespace from that of /proc down to our own."""
    try:
        lines = status.read_text(errors="replace").splitlines()
    except OSError as error:
        raise UsageError(
            f"/proc does not show this process ({error.strerror}): it is of another PID namespace, or hidden",
            "mount this namespace's: unshare --fork --pid --mount-proc, or mount -t proc proc /proc",
        ) from error
    ids = next((line.split()[1:] for line in lines if line.startswith("NSpid:")), [])
    if len(ids) > 1:
        raise UsageError(
            f"/proc is of another PID namespace: it shows this process as {ids[0]}, which is {ids[-1]} here",
            "run Tare outside of the namespace, or mount its own: unshare --fork --pid --mount-proc, or "
            "mount -t proc proc /proc",
        )
