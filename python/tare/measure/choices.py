"""Choices of a user about a measurement. Loads nothing: every command's options name these."""

from __future__ import annotations

from enum import StrEnum


class CacheState(StrEnum):
    """Caches that are emptied before each QE (TTPv2 §3.1)."""

    WARM = "warm"  # nothing
    LUKEWARM_OS = "lukewarm-os"  # the operating system's page cache only
    LUKEWARM_DBMS = "lukewarm-dbms"  # the DBMS's own buffers only
    COLD = "cold"  # both


class Clocked(StrEnum):
    """Work that the two clocks of a QE enclose."""

    TOTAL = "total"  # parsing, planning, execution and fetch: what a client pays
    EXECUTION = "execution"  # execution and fetch of a prepared statement: the paper's measure (TTPv2 §3.2.3)


class Tier(StrEnum):
    """How the kernel is read, best first; each is tried at start."""

    BPF = "bpf"
    TASKSTATS = "taskstats"
    PROCFS = "procfs"


class AnswerRule(StrEnum):
    """How the answers of a query's executions are compared."""

    EXACT = "exact"  # bit for bit
    CLOSE = "close"  # floating-point values within a tolerance, everything else exactly
    ANY = "any"  # not at all


class Blocks(StrEnum):
    """Runs that a comparison treats as one block: each query runs in each block."""

    RESTART = "restart"  # a server that was restarted for each block
    SESSION = "session"  # a fresh session for each block
    RUN = "run"  # all blocks in the first session
