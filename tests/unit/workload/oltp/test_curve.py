"""The order of a curve's steps, and the loop that takes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare.errors import DriverFailed, UsageError
from tare.protocol.oltp.limit import Ended, Limit
from tare.workload.oltp import curve as curves
from tare.workload.oltp.conditions import Hear
from tare.workload.oltp.curve import Curve, Grid, Search, Step
from tare.workload.oltp.request import Isolation, Phase, Poisson, Request, Run
from tare.workload.oltp.run import OltpRun
from tests.unit.report.oltp import curve_sample

RATES = (100.0, 200.0, 300.0, 400.0)


def request() -> Request:
    action = Run(
        connections=16,
        arrivals=Poisson(),
        phases=(Phase(rate=1.0, duration_s=10.0),),
        warmup_s=1.0,
        drain_s=1.0,
        shed_after_s=None,
        mix={},
        isolation=Isolation.READ_COMMITTED,
        tries=3,
        think=0.0,
        norm=2.0,
        samples=None,
    )
    return Request(
        url="sqlite:///x.db",
        workload="tpcc",
        scale=None,
        options={},
        seed=0,
        connect_timeout_s=1.0,
        action=action,
    )


def all_slots(plan: Grid) -> Iterator[tuple[int, float]]:
    taken: list[Step] = []
    while slot := plan.next(taken, range(plan.arms)):
        taken.append(Step(*slot, None))
        yield slot


def test_two_repeats_mirror_each_other_so_that_growth_falls_on_every_rate_alike() -> None:
    slots = list(all_slots(Grid(RATES, 2, 2, "seed")))
    assert slots == slots[::-1]
    places = {slot: [at for at, other in enumerate(slots) if other == slot] for slot in slots}
    assert {sum(found) for found in places.values()} == {len(slots) - 1}


def test_arms_follow_one_another_at_each_rate() -> None:
    slots = list(all_slots(Grid(RATES, 2, 2, "seed")))
    assert all(
        first[1] == second[1] and first[0] != second[0]
        for first, second in zip(slots[::2], slots[1::2], strict=True)
    )


def test_another_seed_is_another_order() -> None:
    assert len({tuple(Grid(RATES, 1, 1, str(seed)).order()) for seed in range(20)}) > 5


def test_a_continued_curve_takes_what_is_left() -> None:
    plan = Grid(RATES, 1, 2, "seed")
    slots = list(all_slots(plan))
    assert plan.next([Step(*slots[0], None), Step(*slots[1], None)], [0]) == slots[2]


def test_an_arm_that_is_left_out_takes_no_step() -> None:
    plan = Grid(RATES, 2, 1, "seed")
    slot = plan.next([], [1])
    assert slot is not None
    assert slot[0] == 1


def test_a_search_gives_the_arms_turns() -> None:
    plan = Search(RATES, Limit("p99", 1e6), 0)
    first = Step(0, 100.0, curve_sample.step(1, 100.0))
    assert plan.next([], [0, 1]) == (0, 100.0)
    assert plan.next([first], [0, 1]) == (1, 100.0)
    assert plan.ended([first], 1) is Ended.UNFINISHED


class Server:
    """Stands for the conductor: a run at each rate, or the error that its list gives."""

    def __init__(self, errors: list[Exception | None]) -> None:
        self.errors = errors
        self.rates: list[float] = []

    def __call__(self, request: Request, hear: Hear, *, checks: bool) -> Server:
        assert isinstance(request.action, Run)
        self.rates.append(request.action.phases[0].rate or 0.0)
        self.stopped_by = None
        return self

    def run(self) -> OltpRun:
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return curve_sample.step(1, self.rates[-1])


def taken(
    monkeypatch: pytest.MonkeyPatch, errors: list[Exception | None], most_s: float | None = None
) -> list[Step]:
    monkeypatch.setattr(curves, "Conductor", Server(errors))
    monkeypatch.setattr(curves, "RETRY_S", 0.0)
    curve = Curve("c", Grid(RATES, 1, 1, "seed"), [request()], None, most_s)
    return list(curve.steps([], lambda arm, rate, number: lambda event: None, 0))


def test_each_run_knows_its_place_in_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [step.run.asked.step for step in taken(monkeypatch, []) if step.run is not None]
    assert [mark.number for mark in marks if mark] == [1, 2, 3, 4]
    assert {mark.curve for mark in marks if mark} == {"c"}


def test_a_crash_ends_the_step_and_not_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = taken(monkeypatch, [None, DriverFailed("the server went away"), None])
    assert [step.run is None for step in steps] == [False, True, False, False]


def test_a_server_that_stays_away_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    away = UsageError("there is no database")
    steps = taken(monkeypatch, [None, away, away])
    assert [step.run is None for step in steps] == [False, True, True]


def test_a_request_that_never_worked_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no workload"):
        taken(monkeypatch, [UsageError("the database holds no workload")])


def test_no_step_begins_that_would_end_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert taken(monkeypatch, [], most_s=10.9) == []
