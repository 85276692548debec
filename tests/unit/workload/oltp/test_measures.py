"""From readings to what happened in each second, and how the DBMSs' views are read."""

from __future__ import annotations

from typing import Any

import pytest

from tare.workload.oltp.measures import NAMES, mariadb, postgresql
from tare.workload.oltp.measures.kernel import Crew, ServerProcesses
from tare.workload.oltp.measures.reading import SECOND_NS, Reading, measures
from tare.workload.oltp.run import Measure

START = 7 * SECOND_NS + 123


def at(second: float, **values: float) -> Reading:
    return Reading(START + int(second * SECOND_NS), values)


def test_a_counter_is_told_as_its_growth_per_second_and_a_gauge_as_it_is() -> None:
    found = list(
        measures([at(0, commits=100, sessions_active=3), at(1.25, commits=225, sessions_active=5)], START)
    )
    assert found == [Measure(0, "commits", 100.0, "1/s"), Measure(0, "sessions_active", 5, "1")]


def test_seconds_of_the_warm_up_are_below_zero() -> None:
    assert [
        one.second for one in measures([at(-2, commits=1), at(-1, commits=1), at(0, commits=1)], START)
    ] == [
        -2,
        -1,
    ]


def test_a_gap_leaves_its_seconds_without_a_measure() -> None:
    found = measures([at(0, commits=0), at(1, commits=5), at(4, commits=9), at(5, commits=10)], START)
    assert [(one.second, one.value) for one in found] == [(0, 5.0), (4, 1.0)]


def test_a_counter_that_began_anew_has_no_measure_in_that_second() -> None:
    found = measures([at(0, commits=900), at(1, commits=3), at(2, commits=10)], START)
    assert [(one.second, one.value) for one in found] == [(1, 7.0)]


def test_no_second_has_the_same_measure_twice_however_late_readings_are() -> None:
    found = list(measures([at(second, commits=0) for second in (0, 1.9, 2.45, 3.0, 3.55)], START))
    assert len({(one.second, one.name) for one in found}) == len(found)


class Kernel:
    """What a probe would see; `seen` is a reading after the other."""

    def __init__(self, *seen: list[Any]) -> None:
        self._seen = iter(seen)

    def processes(self) -> Any:
        found = next(self._seen)
        return type("Snapshot", (), {"processes": lambda self: found})()


def process(tgid: int, run_ns: int | None, start_ns: int = 1) -> Any:
    counters = dict.fromkeys(
        ("user_ns", "system_ns", "run_queue_ns", "block_io_ns", "read_bytes", "write_bytes"), 0
    )
    facts = {"tgid": tgid, "pid": tgid, "comm": "postgres", "start_ns": start_ns, "run_ns": run_ns}
    return type("Process", (), {**counters, **facts})()


def test_processes_add_what_they_used_since_they_were_seen_or_born() -> None:
    old, grown, born = process(1, 5_000_000_000), process(1, 5_500_000_000), process(2, 250_000_000)
    reborn = process(2, 125_000_000, start_ns=9)
    processes = ServerProcesses(Kernel([old], [grown, born], [grown, reborn]))  # type: ignore[arg-type]
    crew = Crew(lambda one: True)
    assert [processes.read(crew)["server_cpu"] for _ in range(3)] == [0.0, 0.75, 0.875]


def test_the_session_that_measures_is_not_among_the_servers_processes() -> None:
    processes = ServerProcesses(Kernel([process(1, 0)], [process(1, 0), process(2, 10**9)]))  # type: ignore[arg-type]
    crew = Crew(lambda one: True, session=(2, 2))
    processes.read(crew)
    assert processes.read(crew)["server_cpu"] == 0.0


def test_a_counter_that_the_kernel_does_not_tell_is_left_out_and_said() -> None:
    processes = ServerProcesses(Kernel([process(1, None)], [process(1, None)]))  # type: ignore[arg-type]
    crew = Crew(lambda one: True)
    processes.read(crew)
    assert "server_cpu" not in processes.read(crew)
    assert "process 1 (postgres)" in processes.unread["server_cpu"]


@pytest.mark.parametrize("major", [12, 14, 15, 17, 18])
def test_every_view_of_postgresql_gives_documented_names(major: int) -> None:
    for view in postgresql.views(major):
        width = view.sql.split(" FROM ")[0].count(",") + 1
        assert set(view.read([[1] * width])) <= NAMES.keys()


def test_active_sessions_are_told_apart_by_what_they_wait_for() -> None:
    rows = [
        ["active", None, 2],
        ["active", "Lock", 3],
        ["active", "IPC", 1],
        ["idle", "Client", 4],
        ["idle in transaction", "Client", 5],
        [None, "Activity", 1],
    ]
    view = next(one for one in postgresql.views(18) if one.name == "pg_stat_activity")
    found = view.read(rows)
    assert (found["sessions_active"], found["waiting_lock"], found["waiting_other"]) == (6, 3, 1)
    assert found["sessions_idle_in_transaction"] == 5


def test_mariadbs_hits_are_its_requests_without_misses() -> None:
    (view,) = mariadb.views()
    found = view.read(
        [
            ["Innodb_buffer_pool_read_requests", "100"],
            ["Innodb_buffer_pool_reads", "30"],
            ["Threads_running", "4"],
            ["Innodb_row_lock_time", "1500"],
        ]
    )
    assert found == {"buffer_hits": 70, "buffer_reads": 30, "sessions_active": 3, "lock_wait_time": 1.5}
    assert found.keys() <= NAMES.keys()
