"""Restarting a PostgreSQL: one of Tare's own, or with its own pg_ctl, as its owner, one that Tare did not start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tare.dbms import local, servers
from tare.errors import CacheNotCleared

WAIT_S = 120
_HOW = ("-m", "fast", "-w", "-t", str(WAIT_S), "-s")


def refusal(directory: Path | None, *, is_allowed: bool) -> str:
    """Return the reason for which Tare may not restart the server of this data directory; empty where it may.

    `is_allowed`: also one that it did not start."""
    if directory is None:
        return "its data directory is not known to this user"
    if is_allowed or servers.of_data_directory(directory) is not None:
        return ""
    return "Tare did not start it"


def restart(directory: Path, backend: int | None) -> None:
    """Restart the server of this data directory, of which `backend` is a process.

    Raises CacheNotCleared or ServerFailed where it does not come back."""
    ours = servers.of_data_directory(directory)
    if ours is not None:
        servers.restart(ours)
    else:
        foreign(directory, backend)


def foreign(directory: Path, backend: int | None) -> None:
    """`pg_ctl restart` repeats the options the server was started with (postmaster.opts).

    Raises CacheNotCleared where this user may not, or where the server does not come back."""
    postmaster = local.parent_of(backend) if backend else None
    binary = local.executable(postmaster) if postmaster else None
    if postmaster is None or binary is None:
        raise CacheNotCleared(
            "the server's binaries cannot be found, so it cannot be restarted",
            "run Tare as root or as the server's operating system user",
        )
    owner = directory.stat()
    if os.geteuid() not in (0, owner.st_uid):
        raise CacheNotCleared(
            f"the server belongs to the user id {owner.st_uid}, so it cannot be restarted by this user",
            "run Tare as root or as the server's operating system user",
        )
    as_owner = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [binary.with_name("pg_ctl"), "restart", "-D", directory, "-l", _log_of(postmaster), *_HOW],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
        **as_owner,  # type: ignore[call-overload]
    )
    if done.returncode != 0:
        raise CacheNotCleared(
            f"the server in {directory} did not restart: {done.stderr.strip() or done.stdout.strip()}",
            "look at the server's log; start it with the system's own means",
        )


def _log_of(postmaster: int) -> str:
    """Return the file that its standard error goes to now, if it is one: the new one appends to it."""
    try:
        target = os.readlink(f"/proc/{postmaster}/fd/2")  # noqa: PTH115
    except OSError:
        return os.devnull
    return target if target.startswith("/") and Path(target).is_file() else os.devnull
