"""A stage on a real server: arms take turns in one open-loop run, and the settings come back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer
from tare.dbms.servers.running import known
from tare.errors import UsageError
from tare.tune.arms import AGAIN, BASELINE, Arm, single_settings, with_baselines
from tare.tune.journal import Changes
from tare.tune.restarts import Restarts
from tare.tune.separate import SeparateConductor, changing
from tare.tune.session import TuningSession
from tare.tune.settings.connecting import connect
from tare.tune.specification import ArmSpec, BlocksSpec, LoadSpec, TuneSpecification
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


RESTARTING = {
    "postgresql": {"max_connections": ["57"]},
    "mariadb": {"back_log": ["57"]},
}


def test_a_setting_that_needs_a_restart_is_measured_on_clones_and_the_server_stays_as_it_is(
    postgresql: RunningServer, tmp_path: Path, journals: Path
) -> None:
    server = postgresql
    request = load_request(server, 4)
    ((name, (value,)),) = RESTARTING[server.record.kind].items()
    with closing(connect(server.url)) as settings:
        before = settings.settings((name,))[name].value
    specification = TuneSpecification(
        load=LoadSpec(workload="ycsb", rate=50.0, connections=4, warmup_s=0.5),
        blocks=BlocksSpec(window_s=1.0, settle_s=0.2, count=2),
        arm=(
            ArmSpec(name="other", set={name: value}),
            ArmSpec(name="beyond", set={name: "1000000000000"}),
        ),
    )
    seen: list[str] = []

    def hear(event: Told | None) -> None:
        if isinstance(event, Connected):
            (clone,) = (server.record.directory / "clones").glob("server")
            seen.append(value_on(clone, name))
            assert list(journals.glob("*.journal"))

    session = TuningSession(request.url, tmp_path / "tunings")
    tuning = session.run(specification, hear, seed=3)
    assert [arm.name for arm in tuning.dropped] == ["beyond"]
    assert list(tuning.arms) == [BASELINE, AGAIN, "other"]
    assert tuning.is_restarted
    assert tuning.baseline == {name: before}
    assert seen == [value if window.arm == "other" else before for window in tuning.windows]
    assert len(tuning.windows) == 3 * 3  # the first block warms up
    (run,) = tuning.runs
    assert run.warmup_s is not None
    assert 2 <= run.warmup_s <= 3
    assert all(window.finished > 10 for window in tuning.windows)
    assert not list(journals.glob("*.journal"))
    assert not (server.record.directory / "clones").exists()
    with closing(connect(server.url)) as settings:
        assert settings.settings((name,))[name].value == before


def test_a_clone_has_the_values_of_its_arm(server: RunningServer, journals: Path) -> None:
    ((name, (value,)),) = RESTARTING[server.record.kind].items()
    with Restarts(server.record, server.url) as restarts:
        assert list(journals.glob("*.journal"))
        with restarts.under(Arm("other", {name: value})) as url, closing(connect(url)) as settings:
            assert settings.settings((name,))[name].value == value
        taken, dropped = restarts.try_arms([Arm("other", {name: value}), Arm("no", {"no_such_setting": "1"})])
    assert [arm.name for arm in taken] == ["other"]
    assert [one.arm.name for one in dropped] == ["no"]
    assert not list(journals.glob("*.journal"))


def value_on(clone: Path, name: str) -> str:
    record = known(clone)
    with closing(connect(record.url)) as settings:
        return settings.settings((name,))[name].value


def test_sessions_of_other_clients_are_not_cut_off_for_a_restart(
    server: RunningServer, tmp_path: Path
) -> None:
    load_request(server, 2)
    ((name, values),) = RESTARTING[server.record.kind].items()
    specification = TuneSpecification(
        load=LoadSpec(workload="ycsb", rate=50.0, connections=2, warmup_s=0.5),
        arm=(ArmSpec(name="other", set={name: values[0]}),),
    )
    session = TuningSession(server.url, tmp_path / "tunings", allow_clients=True)
    pid = server.pid
    with closing(find(server.url).connect(server.url)) as other:
        with pytest.raises(UsageError, match="other sessions would be cut off"):
            session.run(specification, lambda event: None)
        assert other.rows("SELECT 1")
    assert server.pid == pid
