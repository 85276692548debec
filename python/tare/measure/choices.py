"""Choices that a user has in a measurement. Loads nothing: every command's options name these."""

from __future__ import annotations

from enum import StrEnum


class CacheState(StrEnum):
    """Caches that are emptied before each QE (TTPv2 §3.1)."""

    WARM = "warm"  # nothing
    LUKEWARM_OS = "lukewarm-os"  # the operating system's page cache only
    LUKEWARM_DBMS = "lukewarm-dbms"  # the DBMS's own buffers only
    COLD = "cold"  # both


class AnswerRule(StrEnum):
    """How the answers of a query's executions are compared."""

    EXACT = "exact"  # to the last bit
    CLOSE = "close"  # doubles by a relative tolerance, all else exactly
    ANY = "any"  # not: the query may answer what it likes


class Blocks(StrEnum):
    """Blocks of a comparison: what the runs of one block share with each other and with no other run."""

    SESSION = "session"  # a session, opened for it
    RESTART = "restart"  # a session of a server that was restarted for it
    RUN = "run"  # nothing: all runs share one session


class Tier(StrEnum):
    """How the kernel is read, best first; each is tried at start."""

    BPF = "bpf"
    TASKSTATS = "taskstats"
    PROCFS = "procfs"
