"""Functions that may be watched, where each costs a detour, also while no probe is on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._probe import Function, Image

SHORT = 200
"""Bytes of machine code. In a PostgreSQL 18 that computes from memory, detours in all of its 14,705 functions took 16%
(11 to 21%) of its throughput; without the short ones that wait for nothing, 5,601 of them, 3% (-3 to 9%)."""

_FILES = (
    "close", "fallocate", "fdatasync", "fsync", "ftruncate", "ftruncate64", "io_getevents", "io_submit", "msync",
    "open", "open64", "openat", "posix_fallocate", "pread", "pread64", "preadv", "pwrite", "pwrite64", "pwritev",
    "read", "rename", "sync_file_range", "unlink", "write", "writev",
)  # fmt: skip
_OTHERS = (
    "accept", "clock_nanosleep", "connect", "epoll_pwait", "epoll_wait", "nanosleep", "poll", "ppoll", "pselect",
    "pthread_cond_timedwait", "pthread_cond_wait", "pthread_join", "pthread_mutex_lock", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock", "recv", "recvfrom", "recvmsg", "sched_yield", "select", "sem_timedwait", "sem_wait",
    "semop", "semtimedop", "send", "sendmsg", "sendto", "sigwait", "syscall", "usleep",
)  # fmt: skip
WAITS = frozenset(_FILES + _OTHERS)
"""Functions of the C library in which a thread may wait."""


MANY = 1_000
"""A program with no more functions keeps them all."""


def worth_a_detour(image: Image) -> list[Function]:
    """By address."""
    every = image.functions()
    return every if len(every) <= MANY else [one for one in every if may_take_long(image, one)]


def may_take_long(image: Image, one: Function) -> bool:
    """Whether more than a moment can pass in the function itself: it is long, or asks the system for what may wait.

    Short functions are called most; their time stays a part of their callers'."""
    return one.size >= SHORT or any(
        called == 0 and symbol.partition("@")[0] in WAITS for called, symbol in image.callees(one.address)
    )
