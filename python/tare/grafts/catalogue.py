"""Grafts by name: their policies, their counts, and what each reads of the server's program.

The C files take the names of policies and counts from here, by `build.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import UsageError

SOURCES = Path(__file__).parent / "mysql56"
COMMON = ("graft.h", "lock_queues.h")

BUILDS = {"dfb30bc3cde88ceba19ed59004c64b075808d902d96b9741283021e9bd4ce00a": "MySQL 5.6.24 of npm's package"}
"""SHA-256 of the server programs that the grafts were tested in."""


@dataclass(frozen=True, slots=True)
class Word:
    """Policy or count. `name` is the user's, `constant` that of the C file."""

    name: str
    constant: str
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Graft:
    name: str
    meaning: str
    section: str  # of the paper
    source: str
    magic: bytes  # first 8 bytes of the shared memory
    policies: tuple[Word, ...]  # the first is the server's own
    counts: tuple[Word, ...]
    functions: Mapping[str, str]  # linker names, by the name that the C file uses
    variables: tuple[str, ...]
    members: tuple[str, ...]

    def policy(self, name: str) -> int:
        """Number of a policy. Raises UsageError."""
        for number, policy in enumerate(self.policies):
            if policy.name == name:
                return number
        raise UsageError(
            f"the graft {self.name} has no policy {name}",
            f"choose one of: {', '.join(policy.name for policy in self.policies)}",
        )


LOCK_ORDER = Graft(
    name="lock-order",
    meaning="order in which InnoDB grants locks to waiters",
    section="5.2",
    source="lock_order.c",
    magic=b"lockord\0",
    policies=(
        Word("first-come", "FIRST_COME", "the server's own order"),
        Word(
            "eldest",
            "ELDEST",
            "VATS as evaluated: eldest transaction first, and all that do not conflict with an elder waiter",
        ),
        Word("eldest-strict", "ELDEST_STRICT", "VATS as proved: the eldest transaction alone"),
        Word("random", "RANDOM", "RS: a random order at each grant"),
        Word("dependents", "DEPENDENTS", "the transaction that most others wait for, as CATS and LDSF"),
        Word(
            "age-power",
            "AGE_POWER",
            "largest sum of age^(p-1) over a transaction and its dependents, for the L_p norm (--power p)",
        ),
    ),
    counts=(
        Word("record calls", "RECORD_CALLS", "record locks that left a queue"),
        Word("table calls", "TABLE_CALLS", "table locks that left a queue"),
        Word("time", "NS", "time spent in the graft, with the lock system's mutex held", "ns"),
        Word(
            "choices", "CHOICES", "times that a waiter's grant kept back another that could have been granted"
        ),
        Word("waiters", "WAITERS", "waiters in these queues"),
        Word("overtakes", "OVERTAKES", "choices in which a later arrival was granted first"),
        Word("younger first", "YOUNGER_FIRST", "choices in which a younger transaction was granted first"),
        Word("starved", "STARVED", "times that a waiter was put first since it had waited for 10 s"),
        Word("withheld", "WITHHELD", "compatible waiters that eldest-strict kept back"),
        Word("released", "RELEASED", "of these, granted since the transaction ahead began to wait"),
        Word(
            "skipped",
            "SKIPPED",
            "queues left alone: 256 locks or more, or a table's waiter ahead of the lock",
        ),
    ),
    functions={
        "lock_rec_dequeue_from_page": "_Z26lock_rec_dequeue_from_pageP9ib_lock_t",
        "lock_table_dequeue": "_Z18lock_table_dequeueP9ib_lock_t",
        "lock_deadlock_check_and_resolve": "_Z31lock_deadlock_check_and_resolvePK9ib_lock_tPK5trx_t",
        "lock_has_to_wait": "_Z16lock_has_to_waitPK9ib_lock_tS1_",
        "lock_rec_has_to_wait_in_queue": "_Z29lock_rec_has_to_wait_in_queuePK9ib_lock_t",
        "lock_grant": "_Z10lock_grantP9ib_lock_t",
    },
    variables=("lock_sys", "trx_sys"),
    members=(
        "ib_lock_t",
        "ib_lock_t.trx",
        "ib_lock_t.trx_locks.next",
        "ib_lock_t.type_mode",
        "ib_lock_t.hash",
        "ib_lock_t.un_member.rec_lock.space",
        "ib_lock_t.un_member.rec_lock.page_no",
        "ib_lock_t.un_member.rec_lock.n_bits",
        "ib_lock_t.un_member.tab_lock.table",
        "ib_lock_t.un_member.tab_lock.locks.prev",
        "ib_lock_t.un_member.tab_lock.locks.next",
        "trx_t.id",
        "trx_t.lock.trx_locks.start",
        "trx_t.lock.wait_started",
        "dict_table_t.locks.start",
        "dict_table_t.locks.end",
        "lock_sys_t.rec_hash",
        "hash_table_t.n_cells",
        "hash_table_t.array",
        "trx_sys_t.max_trx_id",
    ),
)

LAZY_LRU = Graft(
    name="lazy-lru",
    meaning="how long a page that becomes young waits for the buffer pool's mutex",
    section="6.1",
    source="lazy_lru.c",
    magic=b"lazylru\0",
    policies=(
        Word("mutex", "MUTEX", "the server's own: it waits until it has the mutex"),
        Word("lazy", "LAZY", "LLU: it waits for 10 µs, then the page goes to a backlog of its thread"),
        Word("forget", "FORGET", "it tries once, then forgets the page"),
    ),
    counts=(
        Word("calls", "CALLS", "pages that were to become young"),
        Word("busy", "BUSY", "calls that found the mutex taken"),
        Word("waited", "WAITED_NS", "time in calls that found it taken", "ns"),
        Word("deferred", "DEFERRED", "pages put on a backlog"),
        Word("applied", "APPLIED", "pages of a backlog that were moved later"),
        Word("evicted", "EVICTED", "pages of a backlog that had left the pool"),
        Word("dropped", "DROPPED", "pages dropped from a full backlog (32 pages)"),
        Word("forgotten", "FORGOTTEN", "pages forgotten by the policy forget"),
    ),
    functions={
        "buf_page_make_young": "_Z19buf_page_make_youngP10buf_page_t",
        "buf_LRU_make_block_young": "_Z24buf_LRU_make_block_youngP10buf_page_t",
        "mutex_signal_object": "_Z19mutex_signal_objectP10ib_mutex_t",
    },
    variables=("buf_pool_ptr",),
    members=(
        "buf_pool_t",
        "buf_pool_t.mutex",
        "buf_pool_t.mutex.lock_word",
        "buf_pool_t.mutex.waiters",
        "buf_page_t.state",
        "buf_page_t.space",
        "buf_page_t.offset",
        "buf_page_t.buf_pool_index",
    ),
)

GRAFTS = {graft.name: graft for graft in (LOCK_ORDER, LAZY_LRU)}


def find(name: str) -> Graft:
    """Raises UsageError."""
    try:
        return GRAFTS[name]
    except KeyError:
        raise UsageError(f"there is no graft {name}", f"choose one of: {', '.join(GRAFTS)}") from None
