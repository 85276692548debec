"""Verdicts on a run: neighbours, restarts, and how the first line words each finding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from tare.report.kit.blocks import Tone, Verdict
from tare.report.oltp.build import build
from tare.report.oltp.reasons import reason, reasons
from tare.report.oltp.story import story
from tare.workload.oltp import verdict
from tare.workload.oltp.age import Age, restarted
from tare.workload.oltp.neighbours import disturbance
from tare.workload.oltp.run import Measure, OltpRun
from tare.workload.oltp.told import Counts, Quick, Second
from tare.workload.oltp.verdict import (
    ConnectionsBroke,
    Disturbed,
    Freeze,
    Neighbours,
    RateTooFew,
    Unsuccessful,
    Unwatched,
)
from tests.unit.report.oltp import sample

_S = 10**9
QUIET = sample.run(stall=None)
FREEZE = Freeze(start_ns=2_395_000_000, length_ns=1_020_000_000, waiting=602)
BROKE = ConnectionsBroke(at_ns=3 * _S, broken=16, connections=16, back_ns=3_800_000_000)
HOGS = Disturbed(seconds=58, of_seconds=60, others_ratio=0.85, steal_ratio=0.0, wait_ratio=0.7)


# Neighbours -----------------------------------------------------------------------------
def second(number: int, *, mean_ms: float, finished: int, running: int = 0) -> Second:
    ns = int(mean_ms * 1e6)
    quick = Quick(mean=ns, p50=ns, p95=ns, p99=ns, max=ns) if finished else None
    return Second(
        number=number,
        phase=0,
        counts=Counts(committed=finished),
        backlog=0,
        running=running,
        response=quick,
        service=quick,
        own_cpu_ns=0,
    )


def measures(number: int, *, others: float, ours: float, queue: float, steal: float = 0.0) -> list[Measure]:
    """Seconds of CPU time a second; the queue half of the server and half of the driver."""
    values = {
        "others_cpu": others,
        "machine_cpu": others + ours,
        "machine_steal": steal,
        "server_run_queue": queue / 2,
        "driver_run_queue": queue / 2,
    }
    return [Measure(number, name, value, "s/s") for name, value in values.items()]


def judged(
    seconds: Sequence[Second], of_second: dict[int, dict[str, float]], cpus: int = 2
) -> Neighbours | None:
    found = [one for number, values in of_second.items() for one in measures(number, **values)]
    """The last second is not judged."""
    return disturbance(
        [*seconds, second(len(seconds), mean_ms=10, finished=100)], found, cpus, len(seconds) + 1
    )


def every(seconds: int, used: dict[str, float]) -> dict[int, dict[str, float]]:
    return dict.fromkeys(range(seconds), used)


LONG = [second(number, mean_ms=10, finished=100) for number in range(20)]  # 1 s of service in each


def test_others_that_keep_transactions_from_the_cpus_disturb_a_run() -> None:
    hogs = {"others": 1.5, "ours": 0.5, "queue": 0.5}
    assert judged(LONG, every(20, hogs)) == Disturbed(
        seconds=20,
        of_seconds=20,
        others_ratio=0.75,
        steal_ratio=0.0,
        wait_ratio=0.375,
    )


def test_others_on_cpus_that_would_be_idle_do_not() -> None:
    assert judged(LONG, every(20, {"others": 1.0, "ours": 0.4, "queue": 0.1})) is None


def test_a_server_that_waits_for_its_own_threads_is_not_disturbed_by_a_few_percent_of_others() -> None:
    assert judged(LONG, every(20, {"others": 0.15, "ours": 1.85, "queue": 8.0})) is None


def test_a_disturbance_counts_from_a_twentieth_of_the_seconds_on_and_not_below_two() -> None:
    hogs = {"others": 1.6, "ours": 0.4, "queue": 0.5}
    calm = {"others": 0.0, "ours": 0.4, "queue": 0.5}
    for disturbed, of_seconds, is_one in [
        (1, 20, False),
        (2, 20, True),
        (2, 60, False),
        (3, 60, True),
        (1, 1, False),
    ]:
        seconds = [second(number, mean_ms=10, finished=100) for number in range(of_seconds)]
        used = {number: hogs if number < disturbed else calm for number in range(of_seconds)}
        found = judged(seconds, used)
        assert (found is not None) is is_one
        assert found is None or (found.seconds, found.others_ratio) == (disturbed, pytest.approx(0.8))


def test_what_the_hypervisor_takes_from_running_transactions_disturbs_them() -> None:
    stolen = {"others": 0.0, "ours": 1.0, "queue": 0.0, "steal": 0.3}
    found = judged(LONG, every(20, stolen))
    assert found is not None
    assert (found.steal_ratio, found.wait_ratio) == (pytest.approx(0.15), pytest.approx(0.3))
    assert judged(LONG, every(20, {**stolen, "steal": 0.1})) is None


def test_a_second_in_which_nothing_ended_is_judged_by_what_was_running() -> None:
    starved = [second(number, mean_ms=0, finished=0, running=4) for number in range(4)]
    assert judged(starved, every(4, {"others": 2.0, "ours": 0.0, "queue": 3.9})) is not None
    assert judged(starved, every(4, {"others": 2.0, "ours": 0.0, "queue": 0.1})) is None


def test_seconds_outside_of_the_schedule_and_those_not_measured_are_not_judged() -> None:
    hogs = {"others": 1.6, "ours": 0.4, "queue": 0.5}
    seconds = [second(number, mean_ms=10, finished=100) for number in range(-5, 25)]
    calm = {"others": 0.0, "ours": 0.4, "queue": 0.5}
    used = {number: calm if 0 <= number < 19 else hogs for number in range(-5, 25)}
    every = [one for number, values in used.items() for one in measures(number, **values)]
    assert disturbance(seconds, every, 2, 20.0) is None


def test_others_whose_use_cannot_be_measured_are_not_judged() -> None:
    hogs = {"others": 1.6, "ours": 0.4, "queue": 0.5}
    found = [one for number in range(20) for one in measures(number, **hogs) if one.name != "others_cpu"]
    assert disturbance(LONG, found, 2, 20.0) is None


def test_a_run_in_which_tare_itself_had_no_cpu_is_not_green() -> None:
    calm = {"others": 0.0, "ours": 0.4, "queue": 0.5}
    assert judged(LONG, every(9, calm)) == Unwatched(seconds=9, of_seconds=20)
    assert judged(LONG, every(10, calm)) is None
    assert judged(LONG[:1], {}) is None, "too short to be read"


# Restarts -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("before", "after", "is_so"),
    [
        ((100.0, 99.0), (160.0, 159.0), False),
        ((100.0, 99.0), (20.0, 19.0), True),  # the whole server
        ((100.0, 99.0), (160.0, 19.0), True),  # a crash of one backend renews all but the postmaster
        ((100.0, None), (160.0, None), False),
        ((100.0,), (161.0,), False),  # whole seconds
        ((100.0,), (159.0,), False),
        ((), (), None),  # embedded
        ((100.0,), (None,), None),
    ],
)
def test_a_server_younger_than_it_must_be_was_restarted(
    before: tuple[float | None, ...], after: tuple[float | None, ...], is_so: bool | None
) -> None:
    assert restarted(Age(5.0, before), Age(65.0, after)) is is_so


def test_a_server_whose_whole_seconds_do_not_show_it_is_told_by_its_process() -> None:
    """It is killed 1.8 s after its own start, and 60 s pass between the two ages."""
    before, after = Age(5.0, (1.0,), (70, 1_000)), Age(65.0, (59.0,), (71, 1_180))
    assert restarted(before, after) is True
    assert restarted(before, Age(65.0, (61.0,), (70, 1_000))) is False
    assert restarted(before, Age(65.0, (61.0,))) is False


def test_a_server_that_could_not_be_asked_is_not_known_to_have_restarted() -> None:
    assert restarted(Age(5.0, (100.0,)), None) is None


# The first line -------------------------------------------------------------------------
def first(run: OltpRun) -> tuple[str, Tone]:
    block = story(build(run, 1, lab="lab.db")).blocks[0]
    assert isinstance(block, Verdict)
    return block.text, block.tone


def changed(**outcome: Any) -> OltpRun:
    return replace(QUIET, outcome=QUIET.outcome.model_copy(update=outcome))


def test_only_a_run_without_any_finding_is_green() -> None:
    assert first(QUIET)[1] is Tone.GOOD
    for run, tone in [
        (changed(freezes=(FREEZE,)), Tone.CAUTION),
        (changed(not_judged=(RateTooFew(offered=25),)), Tone.CAUTION),
        (replace(QUIET, disturbed=HOGS), Tone.CAUTION),
        (changed(invalid=(BROKE,)), Tone.BAD),
        (replace(QUIET, restarted=True), Tone.BAD),
    ]:
        assert first(run)[1] is tone


def test_a_freeze_is_in_the_first_line_of_a_valid_run() -> None:
    frozen = changed(freezes=(FREEZE,))
    assert frozen.is_valid
    assert first(frozen)[0] == (
        "Valid, but it stood still for 1.02 s from 2.4 s on, with 602 transactions waiting at its end: "
        "350/s were asked for and 349.8/s succeeded (0.048% less), over 60 s."
    )
    twice = changed(freezes=(FREEZE, Freeze(start_ns=9 * _S, length_ns=3 * _S, waiting=9)))
    assert (
        "it stood still 2 times, for up to 3 s (from 9.0 s on, with 9 transactions waiting" in first(twice)[0]
    )


def test_neighbours_are_in_the_first_line_and_leave_a_run_neither_valid_nor_invalid() -> None:
    disturbed = replace(QUIET, disturbed=HOGS)
    assert (disturbed.is_valid, disturbed.invalid) == (False, ())
    assert first(disturbed)[0] == (
        "This run was disturbed: others used 85% of the CPUs in 58 of 60 s, which kept transactions waiting for an "
        "estimated 70% of their service time."
    )
    stolen = HOGS.model_copy(update={"others_ratio": 0.0, "steal_ratio": 0.3})
    assert "disturbed: the hypervisor used 30% of the CPUs" in first(replace(QUIET, disturbed=stolen))[0]
    short = replace(changed(not_judged=(RateTooFew(offered=25),)), disturbed=HOGS)
    assert first(short)[0].startswith("This run cannot be judged: its rate was not judged: 25 transactions")


def test_a_crash_is_the_first_finding_and_says_when_and_for_how_long() -> None:
    lost = Unsuccessful(
        offered=1000, deadlocks=0, serialization_failures=0, lock_timeouts=0, lost=16, errors=0
    )
    crashed = replace(changed(invalid=(lost, BROKE)), restarted=True)
    assert first(crashed)[0] == (
        "This run is not valid: the server restarted at 3.0 s: 16 of 16 connections broke, and the first was open "
        "again after 800 ms; 1.6% of 1\u202f000 transactions did not succeed: 16 lost with their connection."
    )
    cut_off = changed(invalid=(BROKE,))
    assert "not valid: 16 of 16 connections broke at 3.0 s, and the first was open again" in first(cut_off)[0]
    assert "the server restarted during the run." in first(replace(QUIET, restarted=True))[0]


def test_a_freeze_that_a_crash_explains_is_not_said_twice() -> None:
    away = Freeze(start_ns=3 * _S, length_ns=_S, waiting=300)
    both = changed(invalid=(BROKE,), freezes=(away, Freeze(start_ns=20 * _S, length_ns=_S, waiting=9)))
    assert [one.start_ns for one in both.freezes] == [20 * _S]
    assert "It also stood still for 1 s from 20.0 s on" in first(both)[0]


def test_given_up_transactions_lower_the_rate_in_the_first_line() -> None:
    counts = QUIET.outcome.all.counts.model_copy(update={"deadlocks": 200})
    whole = QUIET.outcome.all.model_copy(update={"counts": counts})
    run = changed(all=whole, sustained_rate=346.5)
    assert "350/s were asked for and 346.5/s succeeded (1% less)" in first(run)[0]
    assert run.outcome.rate == 350, "all were started"


def test_every_reason_has_words_and_no_two_are_worded_alike() -> None:
    kinds = {*get_args(get_args(verdict.Invalid)[0]), *get_args(get_args(verdict.NotJudged)[0])}
    worded = [reason(_any(kind)) for kind in kinds]
    assert all(worded)
    assert len(set(worded)) == len(kinds)
    assert reasons([]) == []


def _any(kind: type[verdict.Fact]) -> verdict.Fact:
    """With every figure 7."""
    numbers = {
        name: 7 for name in kind.model_fields if name not in ("kind", "text", "name", "moment", "failure")
    }
    words = {"text": "words", "name": "c", "moment": "after", "failure": "full"}
    return kind.model_validate(numbers | {name: words[name] for name in words if name in kind.model_fields})


def test_the_driver_and_tare_name_the_same_facts() -> None:
    rust = (Path(__file__).parents[4] / "crates/tare-load/src/oltp/verdict.rs").read_text()
    drivers = {
        kind.model_fields["kind"].default
        for kind in verdict.Fact.__subclasses__()
        if kind.__name__ not in ("Sentence", "Disturbed", "Unwatched")
    } - verdict.DERIVED
    named = {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in line.split()[0]).lstrip(
            "_"
        )
        for line in rust.splitlines()
        if line.startswith("    ") and line.rstrip().endswith(" {") and line.split()[0][0].isupper()
    }
    assert drivers == named


def test_the_json_of_a_run_has_each_reason_in_words_and_in_figures() -> None:
    from tare.cli.oltp_json import document

    told = json.loads(json.dumps(document(replace(changed(invalid=(BROKE,)), disturbed=HOGS), 1)))
    assert told["invalid"][0].startswith("16 of 16 connections broke")
    assert told["invalid_facts"][0] == BROKE.model_dump()
    assert told["not_judged_facts"][0]["others_ratio"] == 0.85
    assert told["valid"] is False
