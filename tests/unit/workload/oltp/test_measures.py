"""From readings to what happened in each second, and how the DBMSs' views are read."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tare._probe import TICK_NS
from tare.workload.oltp.measures import NAMES, mariadb, postgresql
from tare.workload.oltp.measures.kernel import Crew, ServerProcesses
from tare.workload.oltp.measures.others import Others
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


def process(tgid: int, run_ns: int | None, start_ns: int = 1, kernel: bool = False) -> Any:
    counters = dict.fromkeys(
        ("user_ns", "system_ns", "run_queue_ns", "block_io_ns", "read_bytes", "write_bytes"), 0
    )
    facts = {"tgid": tgid, "pid": tgid, "comm": "postgres", "start_ns": start_ns, "run_ns": run_ns}
    facts |= {"kernel": kernel, "threads": 1}
    return type("Process", (), {**counters, **facts})()


def test_processes_add_what_they_used_since_they_were_seen_or_born() -> None:
    old, grown, born = process(1, 5_000_000_000), process(1, 5_500_000_000), process(2, 250_000_000)
    reborn = process(2, 125_000_000, start_ns=9)
    processes, crew = ServerProcesses(), Crew(lambda one: True)
    snapshots = [old], [grown, born], [grown, reborn]
    assert [processes.read(crew, one)["server_cpu"] for one in snapshots] == [0.0, 0.75, 0.875]


def test_the_session_that_measures_is_not_among_the_servers_processes() -> None:
    processes, crew = ServerProcesses(), Crew(lambda one: True, session=(2, 2))
    processes.read(crew, [process(1, 0)])
    assert processes.read(crew, [process(1, 0), process(2, 10**9)])["server_cpu"] == 0.0


def test_a_counter_that_the_kernel_does_not_tell_is_left_out_and_said() -> None:
    processes, crew = ServerProcesses(), Crew(lambda one: True)
    processes.read(crew, [process(1, None)])
    assert "server_cpu" not in processes.read(crew, [process(1, None)])
    assert "process 1 (postgres)" in processes.unread["server_cpu"]


def test_a_delay_that_no_thread_can_have_waited_is_left_out_and_said() -> None:
    processes, crew, broken = ServerProcesses(), Crew(lambda one: True), process(1, 0)
    processes.read(crew, [process(1, 0)])
    broken.block_io_ns = 52_000 * 10**9
    assert "server_block_io" not in processes.read(crew, [broken])
    assert "process 1 (postgres)" in processes.unread["server_block_io"]


def ticks(user: int) -> Any:
    return type("CpuTicks", (), {"user": user, "nice": 0, "system": 0})()


def test_others_have_what_the_machine_used_and_we_did_not() -> None:
    others = Others()
    born_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 3600 * 10**9

    def used(user: int, *processes: Any) -> float:
        """CPU seconds that others used until now. Processes below 10 are ours."""
        return others.read(ticks(user), processes, lambda one: one.tgid < 10)["others_cpu"]

    second = 10**9 // TICK_NS
    assert used(100 * second, process(1, 5 * 10**9), process(50, 9 * 10**9)) == 0
    # Of 3 s we used 1 and a kernel thread 0.5.
    assert used(
        103 * second,
        process(1, 6 * 10**9),
        process(60, 5 * 10**8, born_ns, kernel=True),
        process(50, 9 * 10**9),
    ) == pytest.approx(1.5)
    # One of ours is born and uses 0.5 s; one that is old and new to us counts from now on.
    ours = process(1, 6 * 10**9), process(2, 5 * 10**8, born_ns), process(3, 70 * 10**9)
    assert used(104 * second, *ours) == pytest.approx(2.0)
    # Samples of the kernel give others less than nothing: nothing is taken back.
    assert used(104 * second, process(1, 7 * 10**9)) == pytest.approx(2.0)


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
