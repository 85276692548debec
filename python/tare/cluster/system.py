"""Running the machine's programs (ip, tc, losetup, mount) as root."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tare.dbms.servers.program import base_environment
from tare.errors import ServerFailed


def run(*command: str | Path, timeout_s: float = 60) -> str:
    """Standard output of the command. Raises ServerFailed with what it wrote to standard error."""
    text = " ".join(map(str, command))
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            env=base_environment(),
        )
    except FileNotFoundError as error:
        raise ServerFailed(
            f"the program {command[0]} is missing", "install iproute2, util-linux and e2fsprogs"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerFailed(
            f"`{text}` failed: {error}", "run `tare cluster stop`, then start again"
        ) from error
    if done.returncode != 0:
        raise ServerFailed(
            f"`{text}` failed: {done.stderr.strip() or f'exit code {done.returncode}'}",
            "run `tare doctor` to see what this machine allows",
        )
    return done.stdout


def succeeds(*command: str | Path) -> bool:
    try:
        run(*command)
    except ServerFailed:
        return False
    return True
