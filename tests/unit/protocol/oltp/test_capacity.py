"""Runs that are results, and runs that show where the capacity of a server ends."""

from __future__ import annotations

from dataclasses import replace

from tare.protocol.oltp.capacity import Capacity, Sign, is_overloaded, judge, windows
from tare.protocol.oltp.limit import Limit, Side
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.verdict import ConnectionsBroke
from tests.unit.report.oltp import sample

SECONDS = 24


def run(rate: float = 300.0, *, slower: float = 1.0, stall: tuple[float, float] | None = None) -> OltpRun:
    """A step at one rate; sixteen connections serve some 2,300 a second at `slower` 1."""
    return sample.run(rates=(rate,), seconds=SECONDS, slower=slower, stall=stall)


def busy_from(found: OltpRun, second: int, p50_ms: float) -> OltpRun:
    """The run with every connection busy, and a median of `p50_ms`, from a second on."""
    slow = tuple(
        one
        if one.number < second or one.response is None
        else one.model_copy(
            update={
                "running": found.asked.connections,
                "response": one.response.model_copy(update={"p50": int(p50_ms * 1e6)}),
            }
        )
        for one in found.seconds
    )
    return replace(found, seconds=slow)


def test_a_run_that_sustains_its_rate_is_a_result() -> None:
    judged = judge(run())
    assert (judged.capacity, judged.sign) == (Capacity.SUSTAINED, Sign.RATE_HELD)


def test_a_run_that_changes_regime_is_over_capacity_though_it_sustains_its_rate() -> None:
    judged = judge(busy_from(run(), 12, 70.0))
    assert judged.capacity is Capacity.CHANGED_REGIME
    assert judged.other == 70.0


def test_slow_windows_with_free_connections_are_no_other_regime() -> None:
    found = busy_from(run(), 12, 70.0)
    free = tuple(one.model_copy(update={"running": 3}) for one in found.seconds)
    assert judge(replace(found, seconds=free)).capacity is Capacity.SUSTAINED


def test_a_stall_of_a_second_is_no_other_regime() -> None:
    assert judge(run(stall=(9.2, 10.0))).capacity is Capacity.SUSTAINED


def test_a_backlog_that_is_never_started_is_over_capacity() -> None:
    found = run()
    counts = found.outcome.all.counts.model_copy(update={"unstarted": 9})
    every = found.outcome.all.model_copy(update={"counts": counts})
    judged = judge(replace(found, outcome=found.outcome.model_copy(update={"all": every})))
    assert (judged.capacity, judged.value) == (Capacity.OVER, 9)


def test_a_lost_server_says_nothing_about_capacity() -> None:
    found = run()
    broke = ConnectionsBroke(at_ns=1, broken=16, connections=16, back_ns=None)
    lost = replace(found, outcome=found.outcome.model_copy(update={"invalid": (broke,)}))
    assert judge(lost).capacity is Capacity.FAILED
    assert Limit("p99", 1e9).side(lost) is Side.UNDECIDED


def test_a_run_over_capacity_lies_above_any_budget() -> None:
    assert Limit("p99", 1e9).side(busy_from(run(), 12, 70.0)) is Side.ABOVE


def test_the_interval_decides_the_side_and_the_value_alone_does_not() -> None:
    found = run()
    low, high = Limit("p99", 1.0).bounds(found)
    value = Limit("p99", 1.0).value(found)
    assert low is not None
    assert high is not None
    assert value is not None
    assert Limit("p99", high * 1.01).side(found) is Side.BELOW
    assert Limit("p99", value).side(found) is Side.LEANS_ABOVE
    assert Limit("p99", value * 1.001).side(found) is Side.LEANS_BELOW
    assert Limit("p99", low * 0.99).side(found) is Side.ABOVE


def test_steps_that_decide_nothing_alone_may_decide_together() -> None:
    found = [sample.run(rates=(300.0,), seconds=11, seed=seed, stall=None) for seed in range(1, 7)]
    limit = Limit("p99", 37.0)
    alone = [limit.side(one) for one in found]
    assert Side.UNDECIDED in {side.firm for side in alone}
    assert Side.ABOVE not in alone
    assert set(limit.votes(found)) == {Side.BELOW}
    assert limit.votes(found[:1]) == alone[:1]


def test_steps_on_both_sides_are_not_put_together() -> None:
    low, high = run(), run(slower=8.0)
    limit = Limit("p99", 60.0)
    assert limit.votes([low, high]) == [limit.side(low), limit.side(high)]


def test_windows_cover_the_measured_part_alone() -> None:
    found = windows(run())
    assert len(found) == 6
    assert (found[0].first, found[-1].last) == (0, SECONDS - 1)


def test_a_step_is_given_up_once_five_seconds_of_arrivals_wait() -> None:
    last = run().seconds[-1]
    assert not is_overloaded(last.model_copy(update={"backlog": 1500}), 300.0)
    assert is_overloaded(last.model_copy(update={"backlog": 1501}), 300.0)
