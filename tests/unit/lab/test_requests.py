"""Requests to executors: each is heeded once, in both engines."""

from __future__ import annotations

from tare.lab.requests import Action, last_id, make_request, mark_obeyed, newest_requests, waiting
from tare.lab.store import Lab
from tests.unit.lab.filling import begun


def test_a_request_waits_until_it_is_obeyed(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    assert last_id(lab, run_id) == 0
    make_request(lab, run_id, Action.PAUSE)
    make_request(lab, run_id, Action.RESUME)
    found = waiting(lab, run_id, 0)
    assert [one.action for one in found] == [Action.PAUSE, Action.RESUME]
    mark_obeyed(lab, found[:1])
    assert [one.action for one in waiting(lab, run_id, 0)] == [Action.RESUME]
    newest = newest_requests(lab, run_id)
    assert [(one.action, one.obeyed_at is None) for one in newest] == [
        (Action.RESUME, True),
        (Action.PAUSE, False),
    ]


def test_marked_twice_the_first_moment_stands(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    make_request(lab, run_id, Action.STOP)
    found = waiting(lab, run_id, 0)
    mark_obeyed(lab, found)
    first = newest_requests(lab, run_id)[0].obeyed_at
    mark_obeyed(lab, found)
    assert newest_requests(lab, run_id)[0].obeyed_at == first is not None


def test_a_button_pressed_twice_is_one_request(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    make_request(lab, run_id, Action.PAUSE)
    make_request(lab, run_id, Action.PAUSE)
    assert len(waiting(lab, run_id, 0)) == 1


def test_only_requests_of_its_own_run_that_came_later_are_an_executors(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    make_request(lab, run_id, Action.ABORT)
    seen = last_id(lab, run_id)
    assert waiting(lab, run_id, seen) == []
    make_request(lab, run_id, Action.PAUSE)
    assert [one.action for one in waiting(lab, run_id, seen)] == [Action.PAUSE]
    assert waiting(lab, run_id + 1, 0) == [] == newest_requests(lab, run_id + 1)
