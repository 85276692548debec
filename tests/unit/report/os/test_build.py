"""Arithmetic of the report: means over executions, shares, the paper's tables, and the overhead."""

from __future__ import annotations

import pytest

from tare.os.level import Level
from tare.os.record import Call, Observation
from tare.report.os.build import build_report
from tare.report.os.document import CallShare, NoOverhead, OsReport, Part, QueryReport
from tare.report.os.paper import TABLE_1
from tests.unit.report.os.sample import (
    MS,
    PAGE,
    PAGES,
    back_end,
    observation,
    times,
    untraced,
    window,
    worker,
)


def build(given: Observation) -> OsReport:
    return build_report(given, "0.1.0", "2026-11-29T13:00:00+00:00")


def only(given: Observation) -> QueryReport:
    (query,) = build(given).queries
    return query


# Time ------------------------------------------------------------------------------------
def test_times_of_a_role_are_means_over_executions_and_shares_of_its_present_time() -> None:
    longer = back_end(times=times(400, 100, 40, 460, 1000))
    query = only(observation(window(), window(number=1, roles=(longer, worker()))))
    role = query.roles[0]
    assert query.executions == 2
    assert role.time is not None
    assert role.time.present_ns == 1500 * MS
    assert role.time.parts_ns[Part.USER] == 300 * MS
    assert role.time.shares[Part.USER] == pytest.approx(0.2)
    assert role.time.shares[Part.RESIDUE] == 0
    assert query.total is not None
    assert query.total.threads == 4
    assert query.total.present_ns == 4500 * MS


def test_a_role_that_one_execution_lacks_counts_as_nothing_there() -> None:
    query = only(observation(window(), window(number=1, roles=(back_end(),))))
    assert [role.role for role in query.roles] == ["back end", "I/O worker"]
    assert query.roles[1].time is not None
    assert query.roles[1].time.threads == 1.5


def test_the_median_has_an_interval_from_six_executions_on() -> None:
    five = only(observation(*(window(number=n, wall=1000 + n) for n in range(5))))
    assert (five.wall.median_ns, five.wall.low_ns) == (1002 * MS, None)
    six = only(observation(*(window(number=n, wall=1000 + n) for n in range(6))))
    assert (six.wall.low_ns, six.wall.high_ns) == (1000 * MS, 1005 * MS)
    assert six.total is not None
    assert six.total.estimates[Part.DISK].median_ns == 460 * MS


def test_a_part_that_was_not_observed_stays_unknown() -> None:
    light = back_end(times=times(300, None, 40, 460, 200), calls=None)
    query = only(observation(window(roles=(light,)), level=Level.LIGHT))
    (role,) = query.roles
    assert role.time is not None
    assert role.time.parts_ns[Part.CPU] == 300 * MS
    assert role.time.parts_ns[Part.USER] is None
    assert role.time.shares[Part.SYSTEM] is None
    assert role.calls is None
    assert query.total is not None
    assert Part.USER not in query.total.estimates


# The paper's tables ----------------------------------------------------------------------
def test_table_1_relates_all_roles_to_the_wall_time_and_counts_to_jiffies() -> None:
    profile = only(observation(window("Q6"))).profile
    assert profile is not None
    assert profile.user == pytest.approx(0.215)
    assert profile.system == pytest.approx(0.105)
    assert profile.calls == (
        CallShare(name="pread64", share=80 / 105),
        CallShare(name="futex", share=20 / 105),
        CallShare(name="recvfrom", share=5 / 105),
    )
    assert (profile.faults.per_second, profile.faults.per_jiffy) == (100, 1)
    assert profile.blocks_read is not None
    assert profile.blocks_read.per_jiffy == 256
    assert profile.blocks_written is not None
    assert profile.blocks_written.per_second == 8
    assert profile.packets_sent is not None
    assert profile.packets_sent.per_second == 200
    assert profile.cpu_during_io == pytest.approx(0.2)
    assert profile.paper is TABLE_1["q6"]


def test_table_1_names_at_most_four_calls_and_leaves_out_what_is_unknown() -> None:
    calls = {f"call{n}": Call(count=1, on_cpu_ns=n * MS) for n in range(1, 7)}
    given = window("q21", roles=(back_end(calls=calls),), packets_in=None, io_busy_ns=None)
    profile = only(observation(given)).profile
    assert profile is not None
    assert profile.calls is not None
    assert [call.name for call in profile.calls] == ["call6", "call5", "call4", "call3"]
    assert profile.packets_received is None
    assert profile.cpu_during_io is None
    assert profile.paper is None


def test_table_2_is_cpu_time_in_read_calls_over_wall_time() -> None:
    calls = {
        "read": Call(count=1, on_cpu_ns=10 * MS),
        "preadv2": Call(count=1, on_cpu_ns=20 * MS),
        "recvfrom": Call(count=1, on_cpu_ns=40 * MS),
    }
    reads = only(observation(window(roles=(back_end(calls=calls),)))).read_calls
    assert reads is not None
    assert reads.share == pytest.approx(0.03)
    assert reads.paper == 0.2


# Calls, page cache, disk -----------------------------------------------------------------
def test_twelve_calls_are_named_and_the_rest_is_summed() -> None:
    calls = {f"call{n:02}": Call(count=2, errors=1, on_cpu_ns=n * MS, other_wait_ns=MS) for n in range(1, 16)}
    found = only(observation(window(roles=(back_end(calls=calls),)))).roles[0].calls
    assert found is not None
    assert [row.name for row in found.rows] == [f"call{n:02}" for n in range(15, 3, -1)]
    assert found.rows[0].on_cpu_each_ns == 7.5 * MS
    assert found.others is not None
    assert found.other_kinds == 3
    assert (found.others.count, found.others.errors, found.others.on_cpu_ns) == (6, 3, 6 * MS)
    assert found.others.sleep_ns == 3 * MS


def test_pages_are_shared_out_into_ready_in_flight_and_missed() -> None:
    reader, idle = only(observation()).roles
    assert reader.cache is not None
    assert reader.cache.ready == pytest.approx((PAGES - 100 - 15_360) / PAGES)
    assert reader.cache.in_flight == 0.6
    assert reader.cache.missed == pytest.approx(100 / PAGES)
    assert idle.cache is not None
    assert idle.cache.missed is None, "of no page"


def test_times_of_requests_are_by_request_and_sizes_by_read() -> None:
    query = only(observation(window(), window(number=1)))
    disk = query.roles[0].disk
    assert disk is not None
    assert (disk.reads, disk.mean_read_bytes) == (200, PAGES * PAGE / 200)
    assert disk.sequential == 0.95
    assert (disk.queued_ns, disk.device_ns) == (0.1 * MS, 2 * MS)
    assert disk.read_sizes.buckets == ((12, 40), (19, 360))
    assert query.write_back is not None
    assert query.write_back.writes == 3


# Lost events -----------------------------------------------------------------------------
def test_a_lost_event_takes_away_what_rests_on_it_and_no_more() -> None:
    query = only(observation(window(), window(number=1, lost={"calls": 2, "disk": 0})))
    assert query.lost == {"calls": 2}
    assert query.read_calls is None
    assert query.profile is not None
    assert query.profile.calls is None
    assert query.roles[0].calls is None
    assert query.roles[0].disk is not None


def test_lost_requests_leave_the_kernels_own_count_of_blocks() -> None:
    query = only(observation(window(lost={"disk": 1})))
    assert query.roles[0].disk is None
    assert query.write_back is None
    assert query.profile is not None
    assert query.profile.cpu_during_io is None
    assert query.profile.blocks_read is not None
    assert query.profile.blocks_read.per_jiffy == 256


def test_a_lost_thread_takes_away_everything_by_role() -> None:
    report = build(observation(window(lost={"threads": 1})))
    (query,) = report.queries
    assert query.roles == ()
    assert (query.total, query.profile, query.read_calls, query.bottleneck) == (None,) * 4
    assert report.checks == ()
    assert not report.is_reliable


# Overhead --------------------------------------------------------------------------------
def test_the_overhead_is_paired_by_query_and_number() -> None:
    pairs = [(window(n, k, 1100), untraced(n, k, 1000, run=160)) for n in ("q1", "q6") for k in range(3)]
    report = build(observation(*(one for pair in pairs for one in pair), untraced("q9", 0, 5)))
    assert [(one.query, one.pairs) for one in report.overheads] == [(None, 6), ("q1", 3), ("q6", 3)]
    wall, cpu = report.overheads[0].wall, report.overheads[0].cpu
    assert wall is not None
    assert cpu is not None
    assert (wall.value, wall.low, wall.high) == pytest.approx((1.1, 1.1, 1.1))
    assert cpu.value == pytest.approx(2.0), "320 over 160 ms"
    assert report.overheads[0].is_wall_measurable
    assert report.no_overhead is None


def test_an_overhead_with_a_wide_interval_is_not_measurable() -> None:
    pairs = [window(number=0), untraced(number=0, wall=500), window(number=1), untraced(number=1, wall=2000)]
    (overhead,) = build(observation(*pairs)).overheads
    assert overhead.wall is not None
    assert not overhead.is_wall_measurable


def test_cpu_time_that_was_not_read_gives_no_ratio() -> None:
    pairs = [one for k in range(2) for one in (window(number=k), untraced(number=k, run=0))]
    (overhead,) = build(observation(*pairs)).overheads
    assert overhead.cpu is None
    assert not overhead.is_cpu_measurable


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (observation(window(is_traced=False), level=Level.PROC), NoOverhead.NOTHING_TRACED),
        (observation(window("load")), NoOverhead.NO_UNTRACED),
        (observation(window(), untraced(), untraced(number=1)), NoOverhead.FEW_PAIRS),
    ],
)
def test_there_is_a_reason_where_there_is_no_overhead(given: Observation, why: NoOverhead) -> None:
    report = build(given)
    assert report.no_overhead is why
    assert report.overheads == ()
    assert len(report.queries) == 1
