"""A silence is told once, and its end once."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from tare.errors import Undelivered
from tare.experiment.alarm import Bell
from tare.experiment.watcher import Event, Notice, Watch
from tare.lab.progress import RunFacts
from tare.lab.states import RunState


def run(silent_s: float, state: RunState = RunState.RUNNING, said: str | None = None) -> RunFacts:
    heard = (datetime.now(UTC) - timedelta(seconds=silent_s)).isoformat()
    return RunFacts(
        id=7, uuid="u", experiment="e", scenario="onepass", specification="", specification_hash="",
        dbms="sqlite", dbms_version="3", dbms_settings={}, machine={}, state=state, said=said, url="",
        started_at=heard, ended_at=None, heartbeat_at=heard, executor=None, cache="warm", qes_per_qatc=10,
        timeout_ns=None, tick_ns=10_000_000, online_cpus=2, tier="bpf", tare="0", means={}, deviations=(),
    )  # fmt: skip


def told(watch: Watch, *looks: RunFacts) -> list[Event | None]:
    notices = [watch.look(one, "lab.db") for one in looks]
    return [notice.event if notice else None for notice in notices]


def test_a_silence_is_told_once_and_its_end_once() -> None:
    watch = Watch(7, silent_after_s=10)
    assert told(watch, run(1), run(11), run(12), run(1), run(2), run(11)) == [
        None, Event.SILENT, None, Event.RECOVERED, None, Event.SILENT,
    ]  # fmt: skip


def test_a_run_that_pauses_under_watch_is_told_with_its_reason_and_again_when_it_goes_on() -> None:
    watch = Watch(7, silent_after_s=10)
    paused = run(1, RunState.PAUSED, "the server went away")
    assert watch.look(run(1), "lab.db") is None
    notice = watch.look(paused, "lab.db")
    assert notice is not None
    assert (notice.event, notice.said) == (Event.PAUSED, "the server went away")
    assert told(watch, paused, run(1), run(1)) == [None, Event.RECOVERED, None]


def test_a_run_that_was_paused_before_it_was_watched_is_no_news() -> None:
    assert told(Watch(7, 10), run(99, RunState.PAUSED), run(99, RunState.PAUSED)) == [None, None]


def test_a_silence_that_ends_in_a_pause_is_told_as_one() -> None:
    watch = Watch(7, 10)
    assert told(watch, run(11), run(1, RunState.PAUSED), run(99, RunState.PAUSED)) == [
        Event.SILENT, Event.PAUSED, None,
    ]  # fmt: skip


def test_a_run_that_is_done_is_never_silent_and_ends_the_watch() -> None:
    watch = Watch(7, 10)
    assert told(watch, run(999, RunState.DONE)) == [None]
    assert watch.over


def test_what_a_channel_did_not_take_is_offered_again_to_that_channel_alone() -> None:
    got: list[tuple[str, Event]] = []
    broken = True

    def command(notice: Notice) -> None:
        got.append(("command", notice.event))

    def webhook(notice: Notice) -> None:
        if broken:
            raise Undelivered("no route")
        got.append(("webhook", notice.event))

    failed: list[Undelivered] = []
    bell = Bell([command, webhook], failed.append)
    watch = Watch(7, 10)
    bell.ring(watch.look(run(11), "lab.db"))
    bell.ring(watch.look(run(12), "lab.db"))
    assert (got, len(failed), bell.quiet) == ([("command", Event.SILENT)], 2, False)
    broken = False
    bell.ring(watch.look(run(13), "lab.db"))
    bell.ring(watch.look(dataclasses.replace(run(1)), "lab.db"))
    assert got[1:] == [("webhook", Event.SILENT), ("command", Event.RECOVERED), ("webhook", Event.RECOVERED)]
    assert bell.quiet
