"""A server that ended or hangs is the first thing that a report says."""

from __future__ import annotations

import pytest

from tare.lab.profile_about import Failure, FailureKind, Probes, Rates, Shed, State
from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.measured import Measure
from tare.report.kit import markdown, page, terminal
from tare.report.profile.build import Built
from tare.report.profile.story import printed, story
from tests.unit.report.profile import sample

RATES = Rates(before=1602.0, during=1520.0, after=0.0)
ABORTED = Failure(
    kind=FailureKind.SERVER_ENDED,
    process=123,
    process_name="mariadbd",
    signal=6,
    thread=130,
    function=8,
    probes=Probes.FUNCTIONS,
    functions=12,
)


def failed(failure: Failure, state: State = State.SERVER_ENDED) -> Built:
    update = {"failure": failure, "rates": RATES, "state": state}
    return sample.report(about=sample.ABOUT.model_copy(update=update))


def test_the_signal_the_thread_its_function_and_the_probes_come_first() -> None:
    built = failed(ABORTED)
    report = built.report
    assert report.headline[:3] == [
        "The server (process 123, mariadbd) ended: signal 6, SIGABRT, while Tare's probes were on 12 functions and on "
        "the transactions' markers.",
        "Thread 130 got the signal; the recording saw it in XLogWrite last.",
        "Transactions a second: 1 602 before functions were watched, 1 520 while they were, 0 after.",
    ]
    assert report.invalid_because == ["server ended"]
    assert not report.valid
    assert terminal.render(printed(built)).startswith("✗ The server ended: The server (process 123")
    assert "**The server ended**: The server (process 123" in markdown.render(story(built))


def test_what_is_not_known_is_said_to_be_not_known() -> None:
    report = failed(ABORTED.model_copy(update={"signal": None, "thread": None, "probes": Probes.NONE})).report
    assert "its signal or exit status is not known, after Tare had taken its probes off" in report.headline[0]
    assert report.headline[1] == "Which thread and function it was in is not known."


def test_a_server_that_hangs_is_told_from_one_that_ended() -> None:
    hangs = Failure(kind=FailureKind.SERVER_HANGS, process=9, thread=11, threads=3, probes=Probes.MARKERS)
    update = {"failure": hangs, "rates": RATES, "state": State.SERVER_HANGS}
    built = sample.report(about=sample.ABOUT.model_copy(update=update))
    assert built.report.headline[0].startswith(
        "The server (process 9) hangs: 3 threads of transactions had no CPU"
    )
    assert built.report.invalid_because == ["server hangs"]
    assert '<div class="verdict-box not"><b>The server hangs</b>' in page.render(story(built))
    assert "Save their stacks" in built.report.next.says


@pytest.mark.parametrize("high", [1.66, 0.30])
def test_an_overhead_that_means_nothing_is_in_no_first_sentence_and_the_profile_is_not_valid(
    high: float,
) -> None:
    wide = Overhead(10, Estimate(0.46, -0.2, high), Estimate(0.01, -0.01, 0.03), 0.07, 18, 3500, 0.01)
    built = sample.report(overhead=wide, reservations=reserved(wide))
    report = built.report
    assert "overhead" not in report.headline[0]
    assert "not measurable under this load" in report.headline[1]
    assert report.invalid_because == ["overhead not measurable"]
    shown = terminal.render(printed(built), 100)
    assert '<div class="verdict-box not"><b>Not valid</b>' in page.render(story(built))
    assert "not measurable under this load" in shown.partition("Overhead of the profiling")[2]


def reserved(overhead: Overhead) -> tuple[object, ...]:
    from tare.protocol.profile.reservations import reservations

    return reservations(sample.measured(), None, overhead, sample.ABOUT.budget)


def test_functions_that_were_let_go_are_named_with_what_was_measured() -> None:
    shed = Shed(
        round=2, functions=(8, 10, 11), predicted=(0.03, 0.02, 0.01), measure=Measure.THROUGHPUT,
        value=0.65, low=0.5, high=0.75, pairs=2, left=4,
    )  # fmt: skip
    report = sample.report(about=sample.ABOUT.model_copy(update={"shed": (shed,)})).report
    [said] = [one for one in report.headline if "let go" in one]
    assert said.startswith("In round 2 probes cost 65% (50–75%) in throughput, above the 5.0% allowed: ")
    assert said.endswith("Tare let go of XLogWrite, pg_lzcompress and MemoryContextAlloc.")
    assert report.shed[0].left == 4


def test_transactions_that_stopped_are_said_although_the_server_lives() -> None:
    report = sample.report(about=sample.ABOUT.model_copy(update={"rates": RATES})).report
    assert any(one.startswith("No transaction ended in the last window") for one in report.headline)
