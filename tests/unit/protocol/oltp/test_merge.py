"""Runs of several clients as one: what adds up does so exactly, and what are no clients of one load is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tare.errors import UsageError
from tare.protocol.oltp.merge import merge_clients
from tare.workload.oltp.distribution import merge
from tare.workload.oltp.events import Stall
from tare.workload.oltp.run import OltpRun
from tests.unit.report.oltp import sample

_S = 1_000_000_000


def client(seed: int, later_s: float = 0.0, **changes: Any) -> OltpRun:
    """A client whose measured part begins later by the monotonic clock and by the date."""
    run = sample.run(uuid=f"{seed:032x}", seed=seed, rates=(200.0,), seconds=20, **changes)
    outcome = run.outcome.model_copy(update={"started_ns": run.outcome.started_ns + int(later_s * _S)})
    started = f"2026-11-22T10:00:{5.25 + later_s:06.3f}+00:00"
    return replace(run, outcome=outcome, started_at=started)


def test_rates_connections_counts_and_times_are_those_of_all_clients() -> None:
    a, b = client(1, stall=None), client(2, stall=None)
    merged = merge_clients({"o1": a, "o2": b})
    assert merged.outcome.rate == pytest.approx(a.outcome.rate + b.outcome.rate)
    assert merged.outcome.intended_rate == pytest.approx(400)
    assert [phase.rate for phase in merged.asked.phases] == [400]
    assert merged.asked.connections == a.asked.connections + b.asked.connections
    assert merged.asked.merged_from == (a.uuid, b.uuid)
    assert merged.outcome.all.counts == a.outcome.all.counts + b.outcome.all.counts
    assert merged.outcome.all.response == merge((a.outcome.all.response, b.outcome.all.response))
    offered = sum(second.counts.offered for second in merged.seconds)
    assert offered == sum(second.counts.offered for run in (a, b) for second in run.seconds)


def test_a_stall_is_one_of_the_server_only_if_no_client_went_on() -> None:
    stalled = client(1, stall=(6.0, 8.0)), client(2, later_s=0.5, stall=(6.0, 8.0))
    assert all(run.outcome.stalls for run in stalled)
    merged = merge_clients({"o1": stalled[0], "o2": stalled[1]})
    own = stalled[0].outcome.stalls or ()
    (common,) = merged.outcome.stalls or ()
    assert common.from_ns == pytest.approx(own[0].from_ns + _S // 2, abs=_S // 5)
    assert common.to_ns == pytest.approx(own[0].to_ns, abs=_S // 5)
    alone = merge_clients({"o1": stalled[0], "o2": client(3, stall=None)})
    assert alone.outcome.stalls == ()


def test_seconds_are_put_on_the_first_clients_clock_and_warm_up_stays_apart() -> None:
    a, b = client(1, stall=None), client(2, later_s=1.2, stall=None)
    merged = merge_clients({"o2": b, "o1": a})
    by_number = {second.number: second for second in merged.seconds}
    of_a, of_b = ({second.number: second for second in run.seconds} for run in (a, b))
    assert by_number[0].counts == of_a[0].counts
    assert by_number[7].counts == of_a[7].counts + of_b[6].counts
    warm = sum(second.counts.offered for second in merged.seconds if second.number < 0)
    assert warm == sum(second.counts.offered for run in (a, b) for second in run.seconds if second.number < 0)
    assert any("1.20 s after the first" in deviation for deviation in merged.deviations)


def test_what_makes_one_client_invalid_makes_the_merged_run_so() -> None:
    bad = client(1, stall=None)
    bad = replace(bad, outcome=bad.outcome.model_copy(update={"invalid": ("2% were shed",)}))
    merged = merge_clients({"o1": bad, "o2": client(2, stall=None)})
    assert merged.invalid == ("o1: 2% were shed",)


def test_the_same_clients_make_the_same_run_in_whatever_order_they_are_named() -> None:
    a, b = client(1), client(2)
    assert merge_clients({"o1": a, "o2": b}).uuid == merge_clients({"o2": b, "o1": a}).uuid


def test_machines_that_were_started_at_different_times_are_two() -> None:
    a, b = client(1, stall=None), client(2, stall=None)
    b = replace(b, outcome=b.outcome.model_copy(update={"started_ns": 77 * _S}))
    merged = merge_clients({"o1": a, "o2": b})
    assert any("different machines" in deviation for deviation in merged.deviations)
    assert not any(measure.name.startswith("machine_") for measure in merged.measures)


@pytest.mark.parametrize(
    ("other", "cause"),
    [
        (client(1, stall=None), "two or more different runs"),
        (replace(client(1, stall=None), uuid="b" * 32), "have the same seed"),
        (client(2, later_s=5, stall=None), "begin 5.0 s apart, of 20 s"),
        (replace(client(2), workload="tatp"), "differ in workload"),
        (replace(client(2), isolation="serializable"), "differ in isolation"),
    ],
)
def test_runs_that_are_no_clients_of_one_load_are_refused(other: OltpRun, cause: str) -> None:
    with pytest.raises(UsageError, match=cause):
        merge_clients({"o1": client(1, stall=None), "o2": other})


def test_a_merged_run_is_not_merged_again() -> None:
    merged = merge_clients({"o1": client(1), "o2": client(2)})
    with pytest.raises(UsageError, match="o3 is merged already"):
        merge_clients({"o3": merged, "o4": client(4)})


def test_a_stall_has_those_who_waited_for_any_client() -> None:
    stall = (Stall(from_ns=_S, to_ns=3 * _S, waiting=2),)
    runs = {}
    for seed in (1, 2):
        run = client(seed, stall=None)
        runs[f"o{seed}"] = replace(run, outcome=run.outcome.model_copy(update={"stalls": stall}))
    assert merge_clients(runs).outcome.stalls == (Stall(from_ns=_S, to_ns=3 * _S, waiting=4),)
