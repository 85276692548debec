"""A server that runs, as the subject of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms.url import redacted
from tare.errors import UsageError
from tare.profile.conduct import Subject, transactions_of
from tare.profile.images import functions_of
from tare.profile.launch import LIBRARY
from tare.profile.request import Asked
from tare.profile.server import Server, mapped_files, processes, server

if TYPE_CHECKING:
    from tare._probe import ProfileRecorder


def subject(asked: Asked, db: str | None, pid: int | None, connect_timeout_s: float) -> Subject:
    """Raises UsageError, ConnectionFailed, PrivilegeMissing."""
    found = server(db, pid, timeout_s=connect_timeout_s)
    return of_server(found, asked, shown(found, db))


def of_server(found: Server, asked: Asked, shown_as: str) -> Subject:
    functions = functions_of(found)
    return Subject(
        server=found,
        functions=functions,
        transactions=transactions_of(asked, found, functions),
        backend="attach",
        opened=lambda path: attach(path, found),
        shown=shown_as,
    )


def attach(path: str, to: Server) -> ProfileRecorder:
    """Raises UsageError where a process of the same file would not survive it, ProbeError."""
    from tare._probe import ProfileRecorder

    refuse_beside_agent(to)
    return ProfileRecorder.attach(path, [to.pid], to.follow_children)


def refuse_beside_agent(to: Server) -> None:
    """A uprobe acts on the file: the kernel sets it in every process that maps it, and carries out the instruction that
    the *file* has there. In a process whose text the agent has patched, that ends in a crash."""
    file = to.library or f"/proc/{to.pid}/exe"
    with_agent = [
        pid for pid in same_file(file) if any(Path(one).name == LIBRARY for one in mapped_files(pid))
    ]
    if with_agent:
        raise UsageError(
            f"process {with_agent[0]} runs this program with Tare's agent in it: uprobes on the file would crash it",
            "profile one of them from a copy of its program, or go on with the agent's: tare profile refine",
        )


def same_file(file: str) -> list[int]:
    """Processes that run this program."""
    wanted = _identity(file)
    return [pid for pid in processes() if wanted is not None and _identity(f"/proc/{pid}/exe") == wanted]


def _identity(file: str) -> tuple[int, int] | None:
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def shown(found: Server, db: str | None) -> str:
    if db is not None and "://" in db:
        return redacted(db)
    return f"{found.dbms or 'process'} {found.version}".strip() + f" (process {found.pid})"
