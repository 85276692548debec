"""A server that runs, as the subject of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.url import redacted
from tare.profile.conduct import Subject, transactions_of
from tare.profile.images import functions_of
from tare.profile.request import Asked
from tare.profile.server import Server, children, server

if TYPE_CHECKING:
    from tare._probe import ProfileRecorder


def subject(
    asked: Asked, db: str | None, pid: int | None, connect_timeout_s: float, children: bool | None = None
) -> Subject:
    """`children`: as for `server`. Raises UsageError, ConnectionFailed, PrivilegeMissing."""
    found = server(db, pid, timeout_s=connect_timeout_s, children=children)
    return of_server(found, asked, shown(found, db))


def of_server(found: Server, asked: Asked, shown_as: str) -> Subject:
    functions = functions_of(found, asked.txn or "")
    return Subject(
        server=found,
        functions=functions,
        transactions=transactions_of(asked, found, functions),
        backend="attach",
        opened=lambda path: attach(path, found),
        shown=shown_as,
    )


def attach(path: str, to: Server) -> ProfileRecorder:
    """Raises ProbeError, also where a process of the same file has the agent in it and would not survive it."""
    from tare._probe import ProfileRecorder

    return ProfileRecorder.attach(path, [to.pid], to.follow_children)


def shown(found: Server, db: str | None) -> str:
    if db is not None and "://" in db:
        return redacted(db)
    return f"{found.dbms or 'process'} {found.version}".strip() + f" (process {found.pid}{_children(found)})"


def _children(found: Server) -> str:
    """How many workers the process has, and whether they are watched with it."""
    if found.dbms is not None or not (workers := local.twins_beneath(found.pid)):
        return ""
    number = children(len(workers))
    return (
        f" and its {number}"
        if found.follow_children
        else f" without its {number}; --children watches them too"
    )
