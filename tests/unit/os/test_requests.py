"""Block requests belong to the window in which they were submitted, whenever they are done and heard of."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tare.os.requests import outstanding_ns, submitted_between
from tests.unit.os.planted import Outstanding, Request, snapshot

if TYPE_CHECKING:
    from tare._probe import OsSnapshot

NEVER = 10**6


def test_a_request_that_is_done_after_the_end_of_its_window_is_in_it() -> None:
    request = Request(5, submitted_ns=90, done_ns=120)
    first, second, third = snapshot(0), snapshot(100, requests=[request]), snapshot(200)
    assert submitted_between(first, second).done == (request,)
    assert submitted_between(second, third).done == ()
    assert (outstanding_ns(first, second), outstanding_ns(second, third)) == (10, 20)


def test_a_request_that_comes_with_an_earlier_snapshot_is_in_the_window_in_which_it_was_submitted() -> None:
    request = Request(5, submitted_ns=110, done_ns=120)
    first, second, third = snapshot(0), snapshot(100, requests=[request]), snapshot(200)
    assert submitted_between(first, second).done == ()
    assert submitted_between(second, third).done == (request,)
    assert (outstanding_ns(first, second), outstanding_ns(second, third)) == (0, 10)


def test_a_request_in_flight_when_the_first_window_begins_is_in_none() -> None:
    first = snapshot(100, outstanding=[Outstanding(5, submitted_ns=90)])
    second = snapshot(200, requests=[Request(5, submitted_ns=90, done_ns=130)])
    assert submitted_between(first, second).done == ()
    assert outstanding_ns(first, second) == 30


def test_a_request_that_is_not_done_is_outstanding_in_its_window_alone() -> None:
    open_request = Outstanding(5, submitted_ns=90)
    first, second, third = (
        snapshot(0),
        snapshot(100, outstanding=[open_request]),
        snapshot(200, outstanding=[open_request]),
    )
    last = snapshot(300, requests=[Request(5, submitted_ns=90, done_ns=250)])
    windows = [submitted_between(*pair) for pair in ((first, second), (second, third), (third, last))]
    assert [len(window.outstanding) for window in windows] == [1, 0, 0]
    assert [window.done for window in windows] == [(), (), ()]
    busy = [outstanding_ns(*pair) for pair in ((first, second), (second, third), (third, last))]
    assert busy == [10, 100, 50]


def test_a_request_that_a_snapshot_overlooked_is_in_the_next_window() -> None:
    """Its program was interrupted between the clock and the table."""
    overlooked = Request(5, submitted_ns=99, done_ns=150)
    assert submitted_between(snapshot(100), snapshot(200, requests=[overlooked])).done == (overlooked,)


def test_a_request_of_the_kernel_is_no_time_of_the_observed() -> None:
    second = snapshot(
        100,
        requests=[Request(2, node=None, submitted_ns=10, done_ns=40)],
        outstanding=[Outstanding(2, node=None, submitted_ns=50)],
    )
    assert outstanding_ns(snapshot(0), second) == 0
    requests = submitted_between(snapshot(0), second)
    assert (len(requests.done), len(requests.outstanding)) == (1, 1)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Request], list[OsSnapshot]]:
    """Requests, some of which are never done, and snapshots that wait for them, each for as long as it likes."""
    submitted = sorted(draw(st.sets(st.integers(1, 400), max_size=20)))
    requests = [
        Request(5, submitted_ns=at, issued_ns=at, done_ns=at + draw(st.integers(0, 150) | st.just(NEVER)))
        for at in submitted
    ]
    instants = sorted(draw(st.sets(st.integers(0, 450), min_size=2, max_size=6)))
    ends = [*instants[1:], NEVER]
    complete = [draw(st.integers(at, min(at + 60, end - 1))) for at, end in zip(instants, ends, strict=True)]
    snapshots, before_ns = [], -1
    for at_ns, complete_ns in zip(instants, complete, strict=True):
        done = [one for one in requests if before_ns < one.done_ns <= complete_ns]
        is_open = (one for one in requests if one.submitted_ns <= at_ns and one.done_ns > complete_ns)
        outstanding = [Outstanding(one.tid, submitted_ns=one.submitted_ns) for one in is_open]
        snapshots.append(snapshot(at_ns, requests=done, outstanding=outstanding))
        before_ns = complete_ns
    return requests, snapshots


@given(histories())
def test_each_request_is_in_the_window_of_its_submission_and_in_no_other(
    history: tuple[list[Request], list[OsSnapshot]],
) -> None:
    requests, snapshots = history
    for first, second in pairwise(snapshots):
        found = submitted_between(first, second)
        submitted = [one.submitted_ns for one in (*found.done, *found.outstanding)]
        assert sorted(submitted) == [
            one.submitted_ns for one in requests if first.at_ns < one.submitted_ns <= second.at_ns
        ]


@given(histories())
def test_time_with_an_outstanding_request_is_exact_in_each_window(
    history: tuple[list[Request], list[OsSnapshot]],
) -> None:
    requests, snapshots = history
    for first, second in pairwise(snapshots):
        busy = {
            at
            for one in requests
            for at in range(max(one.submitted_ns, first.at_ns), min(one.done_ns, second.at_ns))
        }
        assert outstanding_ns(first, second) == len(busy)
