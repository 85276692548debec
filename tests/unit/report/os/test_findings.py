"""The bottleneck of a query and all other findings, each with its evidence."""

from __future__ import annotations

import pytest

from tare.os.level import Level
from tare.os.record import Call, Disk, Kept, Observation, PageCache, RoleCounts, Times
from tare.report.os.build import build_report
from tare.report.os.document import Bottleneck, Finding, FindingKind, Resource
from tests.unit.report.os.sample import MS, PAGES, back_end, observation, times, window, worker


def findings(given: Observation) -> dict[FindingKind, Finding]:
    return {one.kind: one for one in build_report(given, "0.1.0", "").findings}


def bottleneck(*roles: RoleCounts, wall: int = 1000, level: Level = Level.FULL) -> Bottleneck:
    report = build_report(observation(window(wall=wall, roles=roles), level=level), "0.1.0", "")
    found = report.queries[0].bottleneck
    assert found is not None
    assert report.resources == {found.resource: 1}
    return found


# Bottleneck ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("parts", "resource", "share", "kind"),
    [
        (times(600, 100, 50, 50, 200), Resource.USER, 0.6, FindingKind.CPU_BOUND),
        (times(100, 600, 50, 50, 200), Resource.SYSTEM, 0.6, FindingKind.CALL_BOUND),
        (times(100, 50, 600, 50, 200), Resource.RUN_QUEUE, 0.6, FindingKind.RUN_QUEUE),
        (times(100, 50, 50, 600, 200), Resource.DISK, 0.6, FindingKind.DISK_BOUND),
        (times(100, 50, 50, 100, 700), Resource.SLEEP, 0.7, FindingKind.WAITS),
        (times(600, None, 50, 100, 250), Resource.CPU, 0.6, FindingKind.CPU_BOUND),
    ],
)
def test_the_largest_share_is_the_bottleneck(
    parts: Times, resource: Resource, share: float, kind: FindingKind
) -> None:
    role = back_end(times=parts)
    found = bottleneck(role, worker())
    assert (found.role, found.resource, found.share) == ("back end", resource, share)
    finding = findings(observation(window(roles=(role, worker()))))[kind]
    assert finding.evidence == {"share": share, "whole_ns": 1000 * MS}


def test_without_waits_for_the_disk_apart_all_waiting_is_one() -> None:
    parts = Times(
        present_ns=1000 * MS, on_cpu_ns=200 * MS, sleep_ns=None, block_io_ns=None, system_ns=50 * MS
    )
    found = bottleneck(back_end(times=parts, calls=None), level=Level.FULL)
    assert (found.resource, found.share) == (Resource.WAIT, 0.8)


def test_threads_that_were_active_for_longer_than_the_wall_time_share_their_active_time() -> None:
    found = bottleneck(back_end(times=times(1000, 200, 300, 500, 6000)))
    assert (found.resource, found.share, found.whole_ns) == (Resource.USER, 0.5, 2000 * MS)
    assert found.shares[Resource.SLEEP] == 0


def test_the_most_active_role_is_critical_and_the_longest_present_where_none_is_active() -> None:
    assert bottleneck(worker(), back_end()).role == "back end"
    idle = back_end(times=times(0, 0, 0, 0, 1000))
    assert bottleneck(idle, worker(times=times(0, 0, 0, 0, 3000))).role == "I/O worker"


def test_calls_that_dominate_are_named_with_their_share() -> None:
    disk = bottleneck(back_end())
    assert disk.read_share == pytest.approx(80 / 300)
    system = bottleneck(
        back_end(times=times(50, 600, 0, 0, 350), calls={"pread64": Call(on_cpu_ns=450 * MS)})
    )
    assert (system.call, system.call_share) == ("pread64", 0.75)
    sleep = bottleneck(back_end(times=times(50, 50, 0, 0, 900), calls={"futex": Call(sleep_ns=450 * MS)}))
    assert (sleep.call, sleep.call_share) == ("futex", 0.5)
    light = bottleneck(back_end(calls=None))
    assert (light.call, light.call_share, light.read_share) == (None, None, None)
    nothing = bottleneck(back_end(times=times(50, 50, 0, 0, 900), calls={"futex": Call()}))
    assert nothing.call is None


def test_no_role_or_no_time_has_no_bottleneck() -> None:
    for given in (window(roles=()), window(wall=0)):
        report = build_report(observation(given), "0.1.0", "")
        assert report.queries[0].bottleneck is None
        assert report.resources == {}


# Other findings --------------------------------------------------------------------------
def test_a_busy_machine_is_found_beside_another_bottleneck() -> None:
    role = back_end(times=times(200, 100, 150, 550, 0))
    found = findings(observation(window(roles=(role,))))
    assert found[FindingKind.RUN_QUEUE].evidence["share"] == 0.15
    assert FindingKind.DISK_BOUND in found
    assert FindingKind.RUN_QUEUE not in findings(observation())


def test_one_role_does_all_work_only_if_others_could() -> None:
    found = findings(observation())[FindingKind.ONE_ROLE]
    assert (found.role, found.evidence["roles"]) == ("back end", 2)
    assert found.evidence["share"] == pytest.approx(800 / 820)
    assert FindingKind.ONE_ROLE not in findings(observation(online_cpus=1))
    assert FindingKind.ONE_ROLE not in findings(observation(window(roles=(back_end(),))))
    shared = window(roles=(back_end(), worker(times=times(200, 0, 0, 0, 0))))
    assert FindingKind.ONE_ROLE not in findings(observation(shared))


@pytest.mark.parametrize(
    ("missed", "ahead", "kind"),
    [
        (100, 25_500, FindingKind.READ_AHEAD_ALL),
        (25_600, 0, FindingKind.READ_AHEAD_NOTHING),
        (12_800, 12_800, None),
        (10, 200, None),
    ],
)
def test_read_ahead_that_fetched_everything_or_nothing_is_found(
    missed: int, ahead: int, kind: FindingKind | None
) -> None:
    cache = PageCache(reads=800, requested=PAGES, missed=missed, in_flight=None, ahead=ahead)
    found = findings(observation(window(roles=(back_end(cache=cache),))))
    both = {FindingKind.READ_AHEAD_ALL, FindingKind.READ_AHEAD_NOTHING}
    assert set(found) & both == ({kind} if kind else set())
    if kind:
        assert found[kind].evidence == {
            "share": ahead / (missed + ahead), "ahead_pages": ahead, "missed_pages": missed,
        }  # fmt: skip


def test_mapped_reads_are_found() -> None:
    cache = PageCache(requested=0, mapped=1000)
    found = findings(observation(window(roles=(back_end(cache=cache),))))[FindingKind.MAPPED]
    assert found.evidence == {"share": 1.0, "mapped_pages": 1000}
    few = PageCache(requested=PAGES, ahead=PAGES * 10, mapped=300)
    assert FindingKind.MAPPED not in findings(observation(window(roles=(back_end(cache=few),))))


def test_blocks_that_were_read_contradict_warm_caches_except_under_a_load() -> None:
    found = findings(observation(cold=False))[FindingKind.NOT_WARM]
    assert found.evidence["read_bytes"] == found.evidence["requested_bytes"] == PAGES * 4096
    assert FindingKind.NOT_WARM not in findings(observation())
    assert FindingKind.NOT_WARM not in findings(observation(window("load"), cold=False))


def test_blocks_that_were_not_read_contradict_emptied_caches() -> None:
    kept = Kept(run_ns=300 * MS, read_chars=PAGES * 4096, read_bytes=4096)
    role = back_end(cache=None, disk=None, kept=kept)
    found = findings(observation(window(roles=(role,))))
    assert found[FindingKind.NOT_COLD].evidence["read_bytes"] == 4096
    unknown = back_end(cache=None, disk=None, kept=kept.model_copy(update={"read_bytes": None}))
    assert FindingKind.NOT_COLD not in findings(observation(window(roles=(unknown,))))


def test_requests_that_were_not_done_are_found() -> None:
    role = back_end(disk=Disk(reads=200, read_bytes=PAGES * 4096, outstanding=2))
    found = findings(observation(window(roles=(role, worker())), window(number=1, roles=(role,))))
    assert found[FindingKind.OUTSTANDING].evidence == {"requests": 4}
    assert FindingKind.OUTSTANDING not in findings(observation())


def test_lost_events_are_found_by_part() -> None:
    found = findings(observation(window(lost={"calls": 3}), window(number=1, lost={"calls": 4})))
    assert (found[FindingKind.LOST].part, found[FindingKind.LOST].evidence) == ("calls", {"events": 7})
