"""Windows are differences of snapshots, and add up."""

from __future__ import annotations

from dataclasses import replace

from tare.os.sums import Activity, CallSum, Process, Sums, difference, total

READ = (1, 10, 0)


def sums(at: int, reads: int, missed: int = 0, slots: tuple[int, ...] = (0, 0)) -> Sums:
    return Sums(
        began_ns=0,
        ended_ns=at,
        calls={READ: CallSum(reads, 0, reads * 100, (reads, 0, 2 * reads, 0, 0))},
        counts={(1, 10): {"pages_missed": missed}},
        histograms={(1, 10, "read_bytes"): slots},
        activities={1: Activity(at, at // 2)},
        processes={10: Process(1, "postgres")},
        lost={"messages": 0},
    )


def test_a_window_is_what_came_after_its_beginning() -> None:
    window = difference(sums(100, 3, 1, (1, 0)), sums(250, 10, 5, (1, 4)))
    assert (window.began_ns, window.ended_ns) == (100, 250)
    assert window.calls[READ] == CallSum(7, 0, 700, (7, 0, 14, 0, 0))
    assert window.counts[1, 10] == {"pages_missed": 4}
    assert window.histograms[1, 10, "read_bytes"] == (0, 4)
    assert window.activities[1] == Activity(150, 75)


def test_a_process_that_begins_within_the_window_counts_from_nothing() -> None:
    before = replace(sums(100, 3), calls={}, counts={}, histograms={})
    window = difference(before, sums(200, 10, 5, (2, 3)))
    assert window.calls[READ].count == 10
    assert window.histograms[1, 10, "read_bytes"] == (2, 3)


def test_windows_of_several_executions_add_up() -> None:
    first = difference(sums(0, 0), sums(100, 5, 2, (1, 1)))
    second = replace(difference(sums(200, 5), sums(260, 9, 3, (0, 2))), processes={11: Process(1, "worker")})
    whole = total([first, second])
    assert whole.elapsed_ns == 160
    assert whole.calls[READ].count == 9
    assert whole.counts[1, 10]["pages_missed"] == 5
    assert whole.histograms[1, 10, "read_bytes"] == (1, 3)
    assert set(whole.processes) == {10, 11}, "processes that ended before the last window stay known"


def test_a_trace_that_lost_anything_is_not_whole() -> None:
    assert sums(1, 1).is_whole
    assert not replace(sums(1, 1), lost={"messages": 1}).is_whole
    assert not replace(sums(1, 1), passed_over=1).is_whole
