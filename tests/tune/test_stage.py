"""A stage on a real server: arms take turns in one open-loop run, and the settings come back."""

from __future__ import annotations

from contextlib import closing

import pytest

from tare.dbms.servers import RunningServer
from tare.tune.arms import Arm, single_settings, with_baselines
from tare.tune.journal import Changes
from tare.tune.separate import SeparateConductor, changing
from tare.tune.settings.connecting import connect
from tare.tune.stage import OVER_WINDOWS, Plan, Stage, StageConductor, try_arms
from tare.workload.oltp.child import Driver
from tare.workload.oltp.request import Isolation, Load, Phase, Poisson, Request, Run
from tare.workload.oltp.told import Connected, Outcome, Told

VALUES = {
    "postgresql": {"synchronous_commit": ["off"]},
    "mariadb": {"innodb_flush_log_at_trx_commit": ["2"]},
}


def load_request(server: RunningServer, connections: int) -> Request:
    """A run of YCSB, loaded anew."""
    action = Run(
        connections=connections,
        arrivals=Poisson(),
        phases=(Phase(rate=1.0, duration_s=1.0),),
        warmup_s=0.5,
        drain_s=2.0,
        shed_after_s=None,
        mix={},
        isolation=Isolation.READ_COMMITTED,
        tries=3,
        think=0.0,
        norm=2.0,
        samples=None,
    )
    request = Request(
        url=server.url, workload="ycsb", scale=None, options={}, seed=1, connect_timeout_s=10.0, action=action
    )
    load = Load(connections=2, replace=True)
    with Driver(request.model_copy(update={"action": load, "scale": 0.01})) as driver:
        assert list(driver.told())
    return request


def take(server: RunningServer, plan: Plan, connections: int) -> Stage:
    values = VALUES[server.record.kind]
    request = load_request(server, connections)
    with closing(connect(server.url)) as settings:
        before = settings.keep(tuple(values))
        with Changes(settings, tuple(values)) as changes:
            arms = with_baselines(single_settings(values))
            stage = StageConductor(request, changes, arms, plan, checks=False).run()
        assert settings.keep(tuple(values)) == before
    return stage


def test_a_setting_that_sessions_copy_reaches_the_sessions_of_its_windows_alone(
    mariadb: RunningServer,
) -> None:
    """An arm whose sessions write each statement to the slow log; other sessions write none there."""
    request = load_request(mariadb, 4)
    arms = with_baselines(single_settings({"long_query_time": ["0"]}))
    plan = Plan(rate=50.0, window_s=1.0, settle_s=0.2, blocks=2, seed=3)
    order = plan.order(len(arms))
    names = ("slow_query_log", "long_query_time")
    with closing(connect(mariadb.url)) as settings:
        before = settings.keep(names)
        settings.change({"slow_query_log": "ON"})
        (log,) = mariadb.record.data_directory.glob("*slow.log")
        sizes: list[int] = []  # when a window's connections are open, and at its end

        def hear(event: Told | None) -> None:
            if isinstance(event, Connected | Outcome):
                sizes.append(log.stat().st_size)

        try:
            with Changes(settings, names[1:]) as changes:
                stage = SeparateConductor(request, changing(changes, mariadb.url), arms, plan, hear).run()
        finally:
            settings.change({"slow_query_log": "OFF"})
        assert settings.keep(names) == before
    grew = [after > earlier for earlier, after in zip(sizes[::2], sizes[1::2], strict=True)]
    assert grew == [arms[arm].name == "long_query_time=0" for _, arm in order]
    assert [(one.window.block, one.window.arm) for one in stage.windows] == order
    assert all(one.figures.finished > 20 for one in stage.windows)
    assert not stage.is_over
    assert stage.leaving == {}
    assert len(stage.records) >= sum(one.figures.offered for one in stage.windows)


def test_of_separate_runs_the_baseline_alone_says_whether_the_rate_is_too_high(
    mariadb: RunningServer,
) -> None:
    request = load_request(mariadb, 1)
    arms = with_baselines(single_settings({"long_query_time": ["0"]}))
    with closing(connect(mariadb.url)) as settings:
        before = settings.keep(("long_query_time",))
        with Changes(settings, ("long_query_time",)) as changes:
            plan = Plan(rate=20_000.0, window_s=1.0, blocks=3)
            stage = SeparateConductor(request, changing(changes, mariadb.url), arms, plan).run()
        assert settings.keep(("long_query_time",)) == before
    assert stage.is_over
    assert sum(arms[one.window.arm].is_copy for one in stage.windows) == OVER_WINDOWS
    assert set(stage.leaving) <= {arm.name for arm in arms}
    assert len(stage.leaving) >= 1


def test_each_block_holds_each_arm_once_and_every_transaction_is_counted_where_it_was_due(
    server: RunningServer,
) -> None:
    plan = Plan(rate=100.0, window_s=1.0, settle_s=0.2, blocks=3, seed=5)
    stage = take(server, plan, connections=4)
    assert [(one.window.block, one.window.arm) for one in stage.windows] == plan.order(3)
    assert len(stage.blocks) == 3
    assert not stage.is_over
    for one in stage.windows:
        intended = stage.records["intended"].astype(int)
        assert one.figures.offered == ((intended >= one.window.from_ns) & (intended < one.window.to_ns)).sum()
        assert one.window.from_ns >= one.window.begins_ns + 200_000_000
        assert one.figures.mean is not None


def test_a_rate_beyond_capacity_stops_the_stage(server: RunningServer) -> None:
    stage = take(server, Plan(rate=60_000.0, window_s=1.0, settle_s=0.2, blocks=20), connections=1)
    assert stage.is_over
    assert len(stage.windows) < 20
    assert any(one.is_carried_over for one in stage.windows)
    assert sum(stage.leaving.values()) >= 1


def test_an_arm_that_the_server_refuses_is_dropped_with_the_reason(server: RunningServer) -> None:
    name, values = next(iter(VALUES[server.record.kind].items()))
    arms = [Arm("good", {name: values[0]}), Arm("bad", {name: "much"})]
    with closing(connect(server.url)) as settings, Changes(settings, [name]) as changes:
        taken, dropped = try_arms(changes, arms)
    assert [arm.name for arm in taken] == ["good"]
    assert [one.arm.name for one in dropped] == ["bad"]
    assert name in dropped[0].reason


@pytest.mark.parametrize("arms", [3, 5])
def test_a_plan_takes_each_arm_in_each_block(arms: int) -> None:
    plan = Plan(rate=1.0, window_s=5.0, blocks=4)
    assert plan.duration_s(arms) == 20 * arms
    assert len(plan.order(arms)) == 4 * arms
