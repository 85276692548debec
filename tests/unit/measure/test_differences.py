"""Use of a process, computed from its readings, whenever the process started and ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare._probe import TICK_NS
from tare.dbms.base import Role
from tare.measure.differences import COUNTERS, lives, unaccounted_births, use_of, was_active
from tare.measure.records import Fate
from tests.unit.measure.readings import ended, process


def only_use(before: list[Any], after: list[Any], exits: list[Any]) -> Any:
    (life,) = lives(before, after, exits)
    return use_of(life, Role.DAEMON)


def test_a_process_in_both_snapshots_used_the_difference() -> None:
    use = only_use([process(run_ns=5)], [process(run_ns=12)], [])
    assert (use.fate, use.run_ns) == (Fate.STEADY, 7)


def test_a_process_that_started_used_all_it_has() -> None:
    use = only_use([], [process(run_ns=12)], [])
    assert (use.fate, use.run_ns) == (Fate.STARTED, 12)


def test_a_process_that_stopped_used_what_its_exit_record_adds() -> None:
    use = only_use([process(run_ns=5)], [], [ended(run_ns=30)])
    assert (use.fate, use.run_ns) == (Fate.STOPPED, 25)


def test_a_process_in_neither_snapshot_is_known_from_its_exit_record() -> None:
    use = only_use([], [], [ended(run_ns=30, cmdline="worker")])
    assert (use.fate, use.run_ns, use.cmdline) == (Fate.PHANTOM, 30, "worker")


def test_a_process_that_vanished_without_a_record_shows_no_use_and_says_so() -> None:
    use = only_use([process(run_ns=5)], [], [])
    assert (use.fate, use.run_ns) == (Fate.UNSEEN_END, 0)


def test_the_threads_of_a_process_that_ended_are_summed() -> None:
    exits = [ended(11, tgid=10, last_of_group=False, run_ns=4), ended(10, run_ns=6)]
    assert only_use([], [], exits).run_ns == 10


def test_a_reused_pid_is_two_lives() -> None:
    joined = lives([process(start_ns=0, run_ns=9)], [process(start_ns=10**12, run_ns=3)], [ended(run_ns=11)])
    uses = sorted((use_of(life, Role.DAEMON) for life in joined), key=lambda use: use.fate)
    assert [(use.fate, use.run_ns) for use in uses] == [(Fate.STARTED, 3), (Fate.STOPPED, 2)]


def test_a_counter_that_one_end_lacks_is_unknown_not_zero() -> None:
    assert only_use([process(block_io_ns=None)], [process(block_io_ns=7)], []).block_io_ns is None


@pytest.mark.parametrize("name", COUNTERS)
def test_a_process_was_active_if_any_counter_moved(name: str) -> None:
    assert not was_active(only_use([process(**{name: 5})], [process(**{name: 5})], []))
    assert was_active(only_use([process(**{name: 5})], [process(**{name: 6})], []))


def test_a_process_that_came_or_went_was_active_though_nothing_moved() -> None:
    assert was_active(only_use([], [process()], []))
    assert was_active(only_use([process()], [], [ended()]))
    assert was_active(only_use([process()], [], []))


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_ticks_are_what_proc_would_have_shown(start: int, used: int) -> None:
    use = only_use([process(user_ns=start)], [process(user_ns=start + used)], [])
    assert use.user_ticks == (start + used) // TICK_NS - start // TICK_NS


def test_ticks_are_those_of_the_machine_that_was_read() -> None:
    (life,) = lives([process(user_ns=0)], [process(user_ns=9_000_000)], [])
    assert use_of(life, Role.DAEMON, tick_ns=1_000_000).user_ticks == 9


@given(st.lists(st.integers(1, 9), max_size=5), st.integers(0, 30), st.integers(0, 30))
def test_births_are_explained_by_tasks_alive_and_ended(steady: list[int], born: int, died: int) -> None:
    before = [process(pid, threads=threads) for pid, threads in enumerate(steady)]
    after = [*before, *(process(100 + i) for i in range(born))]
    assert unaccounted_births(before, after, exits=died, forks=born + died) == 0
    assert unaccounted_births(before, after, exits=died, forks=born + died + 2) == 2
