"""The parts of the leader's timeline add up, and what is not measured is not made up."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tare.measure.elapsed import LeaderReading, elapsed_view, with_throttle
from tare.measure.lacks import Cause, Lack
from tests.unit.measure.readings import MS, process, timeline

parts = st.integers(0, 500 * MS)


def view(before: Any, after: Any, wall: int, one: Any, two: Any, end: Any = None) -> Any:
    """The first reading is 2 ms before the first clock, the second 3 ms after the second; in between the
    leader slept, unless `end`, the trace at the second clock, says otherwise."""
    if two is not None and end is None:
        end = copy.copy(two)
    return elapsed_view(
        2 * MS, 2 * MS + wall, LeaderReading(before, one), end, LeaderReading(after, two), "no trace here", ""
    )


@given(parts, parts, parts, parts, parts)
def test_the_parts_add_up_to_the_wall_time(cpu: int, block: int, queue: int, sleep: int, steal: int) -> None:
    wall = cpu + block + queue + sleep + steal
    got = view(
        process(),
        process(run_ns=cpu, block_io_ns=block, run_queue_ns=queue),
        wall,
        timeline(0),
        # Outside the clocks (2 + 3 ms) the leader slept: that is not of the query.
        timeline(wall + 5 * MS, stolen_ns=steal, sleep_ns=sleep + 5 * MS),
    )
    assert (got.cpu_ns, got.block_io_ns, got.run_queue_ns) == (cpu, block, queue)
    assert (got.sleep_ns, got.steal_ns, got.residue_ns) == (sleep, steal, 0)


def test_what_no_part_explains_is_the_residue_with_its_sign() -> None:
    got = view(process(), process(run_ns=70 * MS), 100 * MS, timeline(0), timeline(105 * MS, sleep_ns=5 * MS))
    assert got.sleep_ns == 0
    assert got.residue_ns == 30 * MS


def test_work_after_the_client_has_its_result_is_not_of_the_wall_time() -> None:
    # Asleep for 2 ms; on the CPU for 100 ms up to the second clock and 0.5 ms on; waiting to run
    # for 0.25 ms and on the CPU for 0.25 ms; asleep for 2 ms.
    end = timeline(
        102 * MS + 1000, state="on_cpu", since_ns=2 * MS, on_cpu_ns=100 * MS + 1000, sleep_ns=2 * MS
    )
    last = timeline(
        105 * MS, since_ns=103 * MS, on_cpu_ns=100 * MS + 750_000, run_queue_ns=250_000, sleep_ns=4 * MS
    )
    used = process(run_ns=100 * MS + 750_000, run_queue_ns=250_000, user_ns=60 * MS, system_ns=40 * MS)
    got = view(process(), used, 100 * MS, timeline(0), last, end)
    assert (got.cpu_ns, got.run_queue_ns, got.sleep_ns, got.residue_ns) == (100 * MS, 0, 0, 0)
    assert got.user_ns + got.system_ns == got.cpu_ns


def test_interrupts_are_told_as_a_share_of_the_cpu_time_not_as_a_part() -> None:
    last = timeline(105 * MS, sleep_ns=5 * MS, interrupted_ns=7 * MS)
    got = view(process(), process(run_ns=100 * MS), 100 * MS, timeline(0), last)
    assert (got.cpu_ns, got.interrupt_ns, got.residue_ns) == (100 * MS, 7 * MS, 0)


def test_without_a_trace_sleep_and_steal_are_unknown_with_the_reason() -> None:
    got = view(process(), process(run_ns=70 * MS), 100 * MS, None, None)
    assert got.sleep_ns is None
    assert got.steal_ns is None
    assert got.why["sleep"] == Lack(Cause.NO_TRACE, "no trace here")
    assert got.residue_ns == 30 * MS
    assert got.why["residue"] == Lack(Cause.SLEEP_UNKNOWN)


def test_a_trace_that_missed_a_switch_is_rejected_with_its_evidence() -> None:
    bad = timeline(105 * MS, switch_ins=9, slices=11)
    got = view(process(), process(run_ns=70 * MS), 100 * MS, timeline(0), bad)
    assert got.sleep_ns is None
    assert got.why["sleep"] == Lack(Cause.TRACE_REJECTED, switch_ins=4, slices=6)
    assert got.residue_ns is None


def test_a_leader_born_before_delay_accounting_has_no_block_io_delay() -> None:
    got = view(process(block_io_ns=None), process(block_io_ns=None), MS, None, None)
    assert got.block_io_ns is None
    assert got.why["block_io"] == Lack(Cause.BORN_BEFORE_DELAYS)


@given(parts, parts)
def test_throttled_time_comes_out_of_the_run_queue_wait_and_the_sum_stays(queue: int, throttled: int) -> None:
    whole = view(
        process(), process(run_ns=MS, run_queue_ns=queue), MS + queue, timeline(0), timeline(6 * MS + queue)
    )
    got = with_throttle(whole, throttled)
    assert got.run_queue_ns + got.throttled_ns == whole.run_queue_ns
    assert got.throttled_ns == min(queue, throttled)
    assert got.residue_ns == whole.residue_ns


def test_throttled_time_that_cannot_be_read_has_its_cause_and_stays_in_the_run_queue_wait() -> None:
    whole = view(process(), process(run_queue_ns=MS), MS, None, None)
    got = with_throttle(whole, None)
    assert (got.throttled_ns, got.run_queue_ns) == (None, MS)
    assert got.why["throttled"] == Lack(Cause.NO_THROTTLE)


def test_a_delay_longer_than_the_leader_can_have_waited_is_no_part() -> None:
    for block in (52_000_000 * MS, 36 * MS):
        after = process(run_ns=70 * MS, block_io_ns=block)
        got = view(process(), after, 100 * MS, timeline(0), timeline(105 * MS, sleep_ns=5 * MS))
        assert got.block_io_ns is None
        assert got.why["block_io"] == got.why["residue"] == Lack(Cause.IMPOSSIBLE_DELAY)
        assert got.residue_ns is None
