"""Processes of this PostgreSQL that worked for the query, and those that served it besides (TTPv2 §7.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.base import Leader, Role

if TYPE_CHECKING:
    from tare._probe import Exit, Process

_WORKER = re.compile(r"parallel worker for PID (\d+)\b")
_TITLE = re.compile(r"^postgres: ")
_NAMES = ("postgres", "postmaster")


@dataclass(slots=True)
class LastRun:
    """Facts about the last clocked execution, by which exits are judged."""

    began_ns: int = 0  # CLOCK_BOOTTIME, the clock of a process's start time
    ended_ns: int = 0
    workers_planned: int = 0


def backend_is_here(pid: int, user: str, database: str) -> bool:
    """A process of that id is on this machine and is a backend for this user or database.

    The server may sit behind loopback in another pid namespace (a container, a forwarded
    port): then the id is another process's, or nobody's."""
    if not local.command_name(pid).startswith(_NAMES):
        return False
    title = " ".join(local.command_line(pid))
    return bool(_TITLE.match(title)) and f"{user} {database}" in title


def role(process: Process, leader: Leader, postmaster: int) -> Role | None:
    if process.tgid == leader.pid:
        return Role.QUERY
    if process.tgid == postmaster:
        return Role.UTILITY
    if process.ppid != postmaster:
        return None
    worker = _WORKER.search(process.cmdline)
    if worker and int(worker.group(1)) == leader.pid:
        return Role.QUERY
    return Role.UTILITY  # other backends, checkpointer, WAL writer, I/O workers, autovacuum, …


def exit_role(exit_: Exit, leader: Leader, postmaster: int, run: LastRun, tick_ns: int) -> Role | None:
    """An ended child of the postmaster whose title was not seen is *inferred*: it counts as a
    parallel worker if the statement's plan asked for workers and it was born while the
    statement ran; else as a utility process. (An autovacuum worker or another client's
    backend that lived within the same moment is then taken for a worker.)"""
    process = exit_.process
    known = role(process, leader, postmaster)
    if known is not Role.UTILITY or process.tgid == postmaster:
        return known
    if _TITLE.match(process.cmdline) or not process.comm.startswith(_NAMES):
        return Role.UTILITY
    born_in_run = run.began_ns - tick_ns <= process.start_ns <= run.ended_ns
    return Role.QUERY if run.workers_planned and born_in_run else Role.UTILITY
