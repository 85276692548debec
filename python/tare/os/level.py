"""Depth of an observation. Apart from the record, so that a command line can name it without loading that."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """Depth of an observation. Each level has all that the one before it has."""

    PROC = "proc"  # counters of /proc, without privilege
    LIGHT = (
        "light"  # scheduler, page cache, block requests, sockets: BPF, but not in the path of system calls
    )
    FULL = "full"  # each system call, too
    MESSAGES = "messages"  # each message sent between addresses, too, with a hash of its content
    READS = "reads"  # each buffered read of a file, too

    @property
    def rank(self) -> int:
        """Place in the order of depth, from 0."""
        return list(Level).index(self)

    @property
    def has_calls(self) -> bool:
        return self.rank >= Level.FULL.rank

    @property
    def has_messages(self) -> bool:
        return self.rank >= Level.MESSAGES.rank

    @property
    def has_reads(self) -> bool:
        return self.rank >= Level.READS.rank
