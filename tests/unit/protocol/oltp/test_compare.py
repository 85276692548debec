"""Ratios of two runs: right where the truth is known, silent where nothing can be said."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tare.protocol.oltp.compare import FIGURES, Compared, compare, objections, ratio_of
from tare.protocol.oltp.precision import Batches, Estimate, Figures, TooShort, precision
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.verdict import RateTooFew
from tests.unit.report.oltp import sample


def quiet(seed: int, slower: float = 1.0, **changes: float) -> OltpRun:
    return sample.run(seed=seed, slower=slower, stall=None, rates=(300.0,), seconds=60, **changes)  # type: ignore[arg-type]


def of(found: list[Compared], figure: str, type_: str = "all", times: str = "response") -> Compared:
    (one,) = [c for c in found if (c.figure, c.type, c.times) == (figure, type_, times)]
    return one


def test_two_runs_of_the_same_are_told_apart_no_more_often_than_promised() -> None:
    """An A/A test: of 95% intervals, some 5 of 100 leave out 1."""
    runs = [quiet(seed) for seed in range(40)]
    found = [one for a, b in zip(runs[::2], runs[1::2], strict=True) for one in compare(a, b)]
    known = [one for one in found if one.ratio is not None]
    assert len(known) > 0.8 * len(found)
    assert sum(one.established for one in known) < 0.08 * len(known)


def test_at_a_load_where_neighbours_are_alike_the_promise_holds_too() -> None:
    """Nearly as much as the connections can carry: queues build up and last."""
    runs = [sample.run(seed=seed, stall=None, rates=(2150.0,), seconds=40) for seed in range(16)]
    assert all(isinstance(how := precision(one, "response"), Batches) and how.inflation > 10 for one in runs)
    found = [
        one
        for a, b in zip(runs[::2], runs[1::2], strict=True)
        for one in compare(a, b)
        if one.type == "all" and one.ratio is not None
    ]
    assert sum(one.established for one in found) <= 0.15 * len(found)


def test_a_slower_run_is_established_and_its_ratios_are_those_of_its_cause() -> None:
    """All times times 1.25: means and sds are in that ratio, variances in its square."""
    found = compare(quiet(1, slower=1.25), quiet(2))
    for figure, truth in (("mean", 1.25), ("sd", 1.25), ("variance", 1.25**2), ("p99", 1.25)):
        one = of(found, figure)
        assert one.established
        assert one.ratio is not None
        assert one.ratio.low is not None
        assert one.ratio.high is not None
        assert one.ratio.low < truth < one.ratio.high, figure


def test_one_stall_is_one_event_however_many_transactions_it_held_up() -> None:
    """Thousands waited; it happened once, and the interval of the mean knows that."""
    calm, stalled = quiet(1), sample.run(seed=1, rates=(300.0,), seconds=60, stall=(30.0, 32.0))
    one = of(compare(stalled, calm), "mean")
    assert one.ratio is not None
    assert one.ratio.value > 3
    assert not one.established
    assert of(compare(stalled, calm), "p99").ratio is None


def test_too_short_a_run_has_no_ratio_and_says_why() -> None:
    short = sample.run(seconds=4, rates=(300.0,), stall=None)
    found = compare(short, quiet(1))
    assert {one.ratio for one in found} == {None}
    assert {one.why for one in found} == {"no interval can be given for A"}
    how = precision(short, "response")
    assert isinstance(how, TooShort)
    assert "an interval takes 10" in how.why


def test_every_type_and_both_times_are_compared() -> None:
    found = compare(quiet(1), quiet(2))
    assert len(found) == 6 * 2 * len(FIGURES)
    assert found[0].type == "all"


def test_a_change_of_the_schedule_is_no_lack_of_precision() -> None:
    """Two rates with different times: each phase is held against its own mean."""
    run = sample.run(rates=(100.0, 2100.0), seconds=40, stall=None)
    one_phase = replace(run, seconds=tuple(one.model_copy(update={"phase": 0}) for one in run.seconds))
    apart, together = precision(run, "service"), precision(one_phase, "service")
    assert isinstance(apart, Batches)
    assert isinstance(together, Batches)
    assert apart.inflation <= together.inflation


def test_a_ratio_of_ratios_keeps_a_skewed_interval_skewed() -> None:
    found = ratio_of(Estimate(2.0, 1.9, 4.0), Estimate(1.0, 0.99, 1.01))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == 2
    assert math.log(found.high / 2) > 5 * math.log(2 / found.low)
    assert ratio_of(Estimate(2.0), Estimate(1.0, 0.9, 1.1)) is None


def test_figures_are_those_of_the_values_themselves() -> None:
    values = sample.np.array([1e6, 2e6, 3e6, 4e6, 10e6] * 200)
    found = Figures(sample.distribution(values), Batches(30, 1, 1.0, 29))
    mean, sd, cv, norm = found.mean, found.sd, found.cv, found.power_mean
    assert mean is not None
    assert sd is not None
    assert cv is not None
    assert norm is not None
    assert mean.value == pytest.approx(4.0)
    assert sd.value == pytest.approx(values.std(ddof=1) / 1e6)
    assert cv.value == pytest.approx(sd.value / 4)
    assert norm.value == pytest.approx(math.sqrt((values**2).mean()) / 1e6)


# Whether they can be compared ------------------------------------------------------------------
def test_runs_that_differ_in_nothing_else_meet_no_objection() -> None:
    assert objections(quiet(1), replace(quiet(2), asked=quiet(1).asked)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workload": "tatp"}, "workload: tpcc in A, tatp in B"),
        ({"isolation": "serializable"}, "isolation: read committed in A, serializable in B"),
        ({"machine": replace(sample.MACHINE, usable_cpus=2)}, "machine: "),
    ],
)
def test_what_keeps_runs_apart_is_named(change: dict[str, object], said: str) -> None:
    a = quiet(1)
    assert any(one.startswith(said) for one in objections(a, replace(a, **change)))  # type: ignore[arg-type]


def test_the_rate_of_a_run_too_short_to_be_judged_is_not_compared() -> None:
    a = quiet(1)
    slow = a.outcome.model_copy(update={"sustained_rate": 1.0})
    assert objections(a, replace(a, outcome=slow)) == ["rate held: 299.8/s in A, 1/s in B"]
    short = slow.model_copy(update={"not_judged": (RateTooFew(offered=25),)})
    assert objections(a, replace(a, outcome=short)) == []


def test_connections_scale_mix_and_rate_are_held_against_each_other() -> None:
    a = quiet(1)
    b = replace(
        a,
        asked=replace(a.asked, connections=8),
        loaded=a.loaded.model_copy(update={"scale": 2.0}),
        outcome=a.outcome.model_copy(
            update={"mix": (100.0, 0.0, 0.0, 0.0, 0.0), "sustained_rate": a.sustained_rate * 0.97}
        ),
    )
    found = objections(a, b)
    assert "scale: 4 in A, 2 in B" in found
    assert "connections: 16 in A, 8 in B" in found
    assert any(one.startswith("mix: new_order 45.00%") for one in found)
    assert "rate held: 299.8/s in A, 290.8/s in B" in found


def test_each_dbms_words_its_isolation_in_its_own_way() -> None:
    a = replace(quiet(1), isolation="read committed")
    assert objections(a, replace(a, isolation="READ-COMMITTED, innodb_snapshot_isolation = OFF")) == []
    (said,) = objections(a, replace(a, isolation="serializable (SQLite has no other)"))
    assert said == "isolation: read committed in A, serializable in B"


def test_options_that_come_from_the_data_are_those_that_are_given_to_the_run() -> None:
    a = quiet(1)
    given = replace(a, asked=replace(a.asked, options={"fixed_lines": "15"}))
    assert objections(a, given) == []
    (said,) = objections(a, replace(a, asked=replace(a.asked, options={"fixed_lines": "5"})))
    assert said == "options at work: fixed_lines=15 in A, fixed_lines=5 in B"
