"""Running a server's programs as its owner, and reading why one failed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

LAST_LINES = 12
LAST_ERRORS = 3
FAR_LINES = 100  # of a log's end, in which errors are sought
_ERRORS = ("[ERROR]", "FATAL:", "PANIC:")
"""Levels of errors in the logs of MariaDB, MySQL and PostgreSQL."""


# What stands in a log → what to do.
_ADVICE = (
    ("No space left on device", "free space on that disk, or choose another --dir"),
    ("Disk quota exceeded", "free space, or choose another --dir"),
    ("Address already in use", "choose another --port"),
    ("could not bind", "choose another --port"),
    ("Permission denied", "choose a --dir that the server's user may write to"),
    ("Cannot allocate memory", "free memory, or start it with smaller buffers"),
    ("could not map anonymous shared memory", "free memory, or start it with smaller buffers"),
)


def run(
    command: Sequence[str | Path],
    owner: Owner,
    *,
    what: str,
    log: Path | None,
    timeout_s: float,
    statements: str = "",
    more_environment: Mapping[str, str] | None = None,
) -> None:
    """Runs a program, with `statements` as its input. Raises ServerFailed with its output and the end of the log."""
    try:
        done = subprocess.run(
            command,
            input=statements,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",
            env={**environment(), **(more_environment or {})},
            timeout=timeout_s,
            check=False,
            **owner.as_user(),
        )
    except subprocess.TimeoutExpired as error:
        raise failed(f"{what}: no end within {timeout_s:g} s", "", log) from error
    except OSError as error:
        raise failed(f"{what}: {error}", "", log) from error
    if done.returncode != 0:
        raise failed(what, f"{done.stdout}\n{done.stderr}", log)


def failed(what: str, said: str, log: Path | None) -> ServerFailed:
    lines = [line.rstrip() for line in said.splitlines() if line.strip()][-LAST_LINES:]
    lines += [f"log: {line}" for line in log_end(log)]
    text = "\n".join(lines)
    advice = next((step for sign, step in _ADVICE if sign in text), "read the lines above; try another --dir")
    return ServerFailed("\n    ".join([what, *lines]), advice)


def log_end(log: Path | None) -> list[str]:
    """Return the last lines of a log, after the last errors if these stand further up."""
    try:
        lines = log.read_text(errors="replace").splitlines() if log else []
    except OSError:
        return []
    end = lines[-LAST_LINES:]
    if any(map(_is_error, end)):
        return end
    return [line for line in lines[-FAR_LINES:-LAST_LINES] if _is_error(line)][-LAST_ERRORS:] + end


def _is_error(line: str) -> bool:
    return any(level in line for level in _ERRORS)


def environment() -> dict[str, str]:
    """Ours without what would redirect a server's programs; messages in English."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "MYSQL", "MARIADB"))}
    return kept | {"LC_ALL": "C"}
