"""Differences of two snapshots: planted counts come out, by node and role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tare.os.counts import UNSEEN, Counts, Parts, count
from tare.os.level import Level
from tare.os.record import Call, Disk, summed
from tests.unit.os.planted import PARTS, Called, Outstanding, Request, Sent, Thread, snapshot

if TYPE_CHECKING:
    from tare._probe import OsSnapshot

ALL = Parts.of(Level.MESSAGES, ())


def counted(first: OsSnapshot, second: OsSnapshot, parts: Parts = ALL) -> Counts:
    """The role of a thread is its name."""
    return count(first, second, ("a", "b"), lambda thread: thread.comm, parts)


def test_a_thread_counts_from_the_first_snapshot() -> None:
    before = Thread(5, on_cpu_ns=100, present_ns=1000, sleep_ns=900, minor_faults=3)
    after = before.later(on_cpu_ns=40, present_ns=50, run_queue_ns=10, minor_faults=2)
    (role,) = counted(snapshot(0, before), snapshot(50, after)).roles
    assert (role.node, role.role, role.threads) == ("a", "postgres", 1)
    assert role.times.on_cpu_ns == 40
    assert role.times.run_queue_ns == 10
    assert role.times.sleep_ns == 0
    assert role.times.residue_ns == 0
    assert role.kept.minor_faults == 2


def test_a_new_thread_counts_from_zero() -> None:
    (role,) = counted(snapshot(0), snapshot(50, Thread(5, present_ns=30, on_cpu_ns=30))).roles
    assert role.times.on_cpu_ns == 30


def test_a_thread_that_ended_before_is_left_out() -> None:
    ended = Thread(5, ended=True, present_ns=30)
    assert counted(snapshot(0, ended), snapshot(50, ended)).roles == ()


def test_a_thread_that_ended_in_the_window_counts() -> None:
    before = Thread(5, present_ns=30)
    after = Thread(5, present_ns=40, ended=True)
    (role,) = counted(snapshot(0, before), snapshot(50, after)).roles
    assert role.times.present_ns == 10
    assert role.threads == 1


def test_an_id_that_is_used_again_is_another_thread() -> None:
    ended = Thread(5, tgid=4, ended=True, present_ns=30)
    reused = Thread(5, tgid=5, comm="io", present_ns=9)
    calls = [Called(5, "read", result=10)]
    (role,) = counted(snapshot(0, ended), snapshot(50, reused, ended, calls=calls)).roles
    assert role.role == "io"
    assert role.calls is not None
    assert role.calls["read"].bytes == 10


def test_roles_are_kept_apart_by_node() -> None:
    threads = [Thread(5, on_cpu_ns=1), Thread(6, on_cpu_ns=2), Thread(7, node=1, on_cpu_ns=4)]
    roles = counted(snapshot(0), snapshot(9, *threads)).roles
    assert [(role.node, role.times.on_cpu_ns) for role in roles] == [("a", 3), ("b", 4)]


def test_calls_that_move_bytes_have_bytes() -> None:
    thread = Thread(5)
    first = snapshot(0, thread, calls=[Called(5, "read", count=2, result=100)])
    calls = [
        Called(5, "read", count=5, errors=1, result=300, on_cpu_ns=7, block_io_ns=9),
        Called(5, "lseek", result=4096),
        Called(5, "getrandom", result=16),
    ]
    (role,) = counted(first, snapshot(9, thread, calls=calls)).roles
    assert role.calls == {
        "read": Call(count=3, errors=1, bytes=200, on_cpu_ns=7, block_io_ns=9),
        "lseek": Call(count=1),
        "getrandom": Call(count=1),
    }


def test_a_call_in_progress_has_its_time_before_its_count() -> None:
    first = snapshot(0, Thread(5), calls=[Called(5, "epoll_wait", count=2, sleep_ns=10)])
    waiting = snapshot(9, Thread(5), calls=[Called(5, "epoll_wait", count=2, sleep_ns=19)])
    returned = snapshot(12, Thread(5), calls=[Called(5, "epoll_wait", count=3, sleep_ns=21)])
    ((during,), (after,)) = (counted(first, waiting).roles, counted(waiting, returned).roles)
    assert during.calls == {"epoll_wait": Call(count=0, sleep_ns=9)}
    assert after.calls == {"epoll_wait": Call(count=1, sleep_ns=2)}


def test_a_call_that_did_not_occur_again_is_left_out() -> None:
    calls = [Called(5, "read")]
    (role,) = counted(snapshot(0, Thread(5), calls=calls), snapshot(9, Thread(5), calls=calls)).roles
    assert role.calls == {}


def test_parts_that_are_not_observed_are_none() -> None:
    thread = Thread(5, system_ns=None, in_flight=None)
    counts = counted(snapshot(0, thread), snapshot(9, thread), Parts.of(Level.LIGHT, ("disk", "sockets")))
    (role,) = counts.roles
    assert (role.calls, role.disk, role.sockets) == (None, None, None)
    assert role.cache is not None
    assert role.cache.in_flight is None
    assert role.times.system_ns is None
    assert (counts.io_busy_ns, counts.io_on_cpu_ns, counts.write_back) == (None, None, None)


def test_the_page_cache_and_sockets_are_counted() -> None:
    thread = Thread(5, reads=1, requested=10, missed=2, in_flight=1, ahead=6, sends=3, local_sent_bytes=70)
    (role,) = counted(snapshot(0), snapshot(9, thread)).roles
    assert role.cache is not None
    assert role.cache.ready == 7
    assert role.cache.ahead == 6
    assert role.sockets is not None
    assert (role.sockets.sends, role.sockets.local_sent_bytes) == (3, 70)


def test_requests_belong_to_the_role_of_their_thread() -> None:
    requests = [
        Request(5, submitted_ns=10, issued_ns=12, done_ns=20),
        Request(6, submitted_ns=15, issued_ns=15, done_ns=30, write=True),
        Request(99, node=1, submitted_ns=40, issued_ns=40, done_ns=41),
        Request(2, node=None, write=True, bytes=512, submitted_ns=50),
    ]
    threads = [Thread(5, io_on_cpu_ns=3), Thread(6, comm="checkpointer", io_on_cpu_ns=4)]
    counts = counted(snapshot(0), snapshot(100, *threads, requests=requests))
    disks = {role.role: role.disk for role in counts.roles}
    assert disks["postgres"] is not None
    assert disks["checkpointer"] is not None
    unseen = disks[UNSEEN]
    assert unseen is not None
    assert (disks["postgres"].reads, disks["postgres"].queued_ns, disks["postgres"].device_ns) == (1, 2, 8)
    assert (disks["checkpointer"].writes, unseen.reads) == (1, 1)
    assert counts.io_busy_ns == 21
    assert counts.io_on_cpu_ns == 7
    assert counts.write_back is not None
    assert counts.write_back.write_bytes == 512


def test_requests_that_are_not_done_are_counted_with_their_role() -> None:
    outstanding = [Outstanding(5, 10), Outstanding(6, 20), Outstanding(6, 30), Outstanding(2, 40, node=None)]
    threads = [Thread(5), Thread(6, comm="checkpointer")]
    counts = counted(snapshot(0), snapshot(100, *threads, outstanding=outstanding))
    assert {role.role: role.disk for role in counts.roles} == {
        "postgres": Disk(outstanding=1),
        "checkpointer": Disk(outstanding=2),
    }
    assert counts.write_back == Disk(outstanding=1)
    assert counts.io_busy_ns == 90


def test_messages_carry_their_role_in_the_order_of_time() -> None:
    messages = [Sent(20, 5, 100), Sent(10, 6, 50, node=1, hash=None, head=b"\x17\x03")]
    threads = [Thread(5), Thread(6, node=1, comm="worker")]
    first, second = counted(snapshot(0), snapshot(30, *threads, messages=messages)).messages
    assert (first.at_ns, first.node, first.role, first.hash, first.head) == (10, "b", "worker", None, "1703")
    assert (second.node, second.role, second.bytes) == ("a", "postgres", 100)


def test_lost_events_are_those_of_the_window() -> None:
    first = snapshot(0, lost={"calls": 2, "disk": 1})
    assert counted(first, snapshot(9, lost={"calls": 2, "disk": 4, "messages": 3})).lost == {
        "disk": 3,
        "messages": 3,
    }


def grown(draw: Any, thread: Thread) -> Thread:
    times = {name: draw(st.integers(0, 10**9)) for name in PARTS}
    return thread.later(
        **times, present_ns=sum(times.values()), system_ns=draw(st.integers(0, times["on_cpu_ns"]))
    )


@st.composite
def three_snapshots(draw: Any) -> tuple[OsSnapshot, OsSnapshot, OsSnapshot]:
    """Threads that appear, work, call and end."""
    snapshots = []
    threads: dict[int, Thread] = {}
    calls: dict[tuple[int, str], int] = {}
    for moment in range(3):
        for tid in draw(st.sets(st.integers(1, 6))):
            known = threads.get(tid, Thread(tid, node=tid % 2, comm="ab"[tid % 3 // 2]))
            if known.ended:
                continue
            grew = grown(draw, known)
            threads[tid] = Thread(**{**vars(grew), "ended": draw(st.booleans())})
            name = draw(st.sampled_from(("read", "futex")))
            calls[tid, name] = calls.get((tid, name), 0) + draw(st.integers(1, 9))
        made = [Called(tid, name, count=n, result=3 * n, sleep_ns=n) for (tid, name), n in calls.items()]
        snapshots.append(snapshot(moment * 1000, *threads.values(), calls=made))
    return snapshots[0], snapshots[1], snapshots[2]


@given(three_snapshots())
def test_the_parts_of_time_add_up(snapshots: tuple[OsSnapshot, OsSnapshot, OsSnapshot]) -> None:
    for role in counted(snapshots[0], snapshots[2]).roles:
        assert role.times.residue_ns == 0


@given(three_snapshots())
def test_windows_that_follow_each_other_add_up(snapshots: tuple[OsSnapshot, OsSnapshot, OsSnapshot]) -> None:
    a, b, c = snapshots
    for node in ("a", "b"):
        whole = summed(role for role in counted(a, c).roles if role.node == node)
        parts = summed(
            role for counts in (counted(a, b), counted(b, c)) for role in counts.roles if role.node == node
        )
        assert (whole.times, whole.kept, whole.calls) == (parts.times, parts.kept, parts.calls)
