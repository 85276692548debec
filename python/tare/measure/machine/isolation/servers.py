"""Servers that an isolated command of Tare's measures: they belong on its CPUs, not among those kept off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from tare.dbms.registry import find
from tare.errors import TareError

_OPTION = "--db"
_VARIABLE = "TARE_DB"


def addresses(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the URLs that a command of Tare's is given; those of its options come before `TARE_DB`. None of others."""
    if not _is_tare(command):
        return []
    given = [value for option, value in pairwise(command) if option == _OPTION]
    given += [word.partition("=")[2] for word in command if word.startswith(f"{_OPTION}=")]
    return given or [url for url in [environment.get(_VARIABLE)] if url]


def server_of(url: str) -> int | None:
    """Return the process whose descendants serve the URL; None for a library, or a server of another machine.

    Raises TareError if it cannot be connected to."""
    session = find(url).connect(url)
    try:
        leader = session.leader()
        if leader is None or leader.whole_process:
            return None
        return next(iter(session.worker_parents(leader)), leader.pid)
    finally:
        with suppress(TareError):
            session.close()


def _is_tare(command: Sequence[str]) -> bool:
    return Path(command[0]).name == "tare" or any(
        (option, module) == ("-m", "tare") for option, module in pairwise(command)
    )
