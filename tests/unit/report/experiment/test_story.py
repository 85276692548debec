"""The story of the sample lab: the answer first, with whatever stands against it, and nothing lost below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from tare.lab.frames import Frames
from tare.report.conditions.facts import Facts
from tare.report.experiment.build import Built, build
from tare.report.experiment.document import Protocol, Report
from tare.report.experiment.story import story
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Tone, Verdict
from tests.unit.report.experiment import sample_outcome

WIDE = 5000  # columns: no paragraph is wrapped


def answer(built: Built) -> Verdict:
    first = story(built).blocks[0]
    assert isinstance(first, Verdict)
    return first


def primary(built: Built) -> Protocol:
    found = built.report.protocol(built.report.primary)
    assert found is not None
    return found


def with_primary(built: Built, report: Report, changes: Mapping[str, Any]) -> Built:
    protocols = [
        one.model_copy(update=changes) if one.protocol == report.primary else one for one in report.protocols
    ]
    return replace(built, report=report.model_copy(update={"protocols": protocols}))


@pytest.fixture
def spotless(built: Built) -> Built:
    """The sample with nothing against it: every run and query as it should be, nothing dropped."""
    report = built.report.model_copy(
        update={
            "missing": [],
            "runs": [run.model_copy(update={"deviations": []}) for run in built.report.runs],
        }
    )
    one = primary(built)
    changes = {
        "remaining": one.remaining[:1],
        "checks": [check.model_copy(update={"unjudged": None}) for check in one.checks],
        "post": [post.model_copy(update={"value": 0.0}) for post in one.post],
    }
    return with_primary(built, report, changes)


# The answer ------------------------------------------------------------------------------
def test_the_answer_counts_what_has_a_time_and_names_whatever_stands_against_it(built: Built) -> None:
    found = answer(built)
    qes = primary(built).remaining[-1].qes
    assert found.text == f"TTPv2 reports the times of 34 of 44 Q@Cs (77%), from {qes} of 440 QEs."
    assert found.tone is Tone.CAUTION
    assert found.reasons == [
        "two queries or Q@Cs have no time",
        "ten Q@Cs were dropped",
        "one check could not be judged, or only in part",
        "post-sanity check “strict monotonicity”: 5.3%",
        "post-sanity check “relaxed monotonicity”: 2.6%",
        "one deviation from the protocol is recorded",
    ]


def test_the_answer_is_good_where_nothing_stands_against_it(spotless: Built) -> None:
    assert (answer(spotless).tone, answer(spotless).reasons) == (Tone.GOOD, [])


def test_the_answer_is_not_good_where_one_thing_stands_against_it(spotless: Built) -> None:
    report = spotless.report
    one = primary(spotless)
    runs = [report.runs[0].model_copy(update={"state": "paused"}), *report.runs[1:]]
    paused = replace(spotless, report=report.model_copy(update={"runs": runs}))
    violated = [one.checks[0].model_copy(update={"violations": 3}), *one.checks[1:]]
    unknown = [one.post[0].model_copy(update={"value": None}), *one.post[1:]]
    for changed, reason in (
        (paused, "run e1 is paused"),
        (
            with_primary(spotless, report, {"checks": violated}),
            "violations of experiment-wide checks: “missing queries”",
        ),
        (with_primary(spotless, report, {"post": unknown}), "post-sanity check “excessive variation”: –"),
        (
            with_primary(spotless, report, {"deviations": ["two CPUs"]}),
            "one deviation from the protocol is recorded",
        ),
    ):
        assert (answer(changed).tone, answer(changed).reasons) == (Tone.CAUTION, [reason])


def test_the_answer_of_a_stopped_protocol_is_that_it_was_stopped(frames: Frames, facts: list[Facts]) -> None:
    outcome = sample_outcome.outcome(frames, "ttp2", stopped="10 missing queries")
    found = answer(build(frames, facts, [outcome], [], lab="lab.db"))
    assert found.tone is Tone.BAD
    assert found.text == "TTPv2 was stopped, so no time is reported: 10 missing queries."


# Media -----------------------------------------------------------------------------------
def test_a_terminal_shows_the_answer_and_the_two_paragraphs_alone(built: Built) -> None:
    shown = terminal.render(story(built), WIDE)
    assert answer(built).text in shown
    assert all(paragraph in shown for paragraph in primary(built).statement.paragraphs)
    assert "To be completed by hand: hardware" in shown
    assert "The protocols side by side" not in shown
    assert "128MB" not in shown
    assert all(len(line) <= 60 for line in terminal.render(story(built), 60).splitlines())


def test_charts_are_drawn_only_by_a_page(built: Built) -> None:
    def draw() -> list[Any]:
        raise AssertionError("drawn")

    undrawn = replace(built, draw=draw)
    assert terminal.render(story(undrawn))
    assert markdown.render(story(undrawn))
    with pytest.raises(AssertionError, match="drawn"):
        page.render(story(undrawn))


@pytest.mark.parametrize("medium", [page, markdown], ids=["page", "markdown"])
def test_a_file_holds_everything(built: Built, medium: Any) -> None:
    shown = unescape(medium.render(story(built))).replace("\u00a0", " ")
    for part in (
        "2 runs on mariadb 10.11.14, postgresql 18.1 · 44 Q@Cs, 440 QEs · first begun 2025-03-01",
        "TTPv2 comes first because the DBMS was on one CPU, as TTPv2 asks.",
        "The nine items, one by one",
        "1. Protocol",
        "2. Hardware (complete in part)",
        "The same by TTPv1",
        "its Table XVII prints the two the other way round",
        "QEs and Q@Cs left after each step of TTPv2",
        "after step 3-(iii)",
        "TTPv1: the regression of I/O wait, by DBMS",
        "guest time is not known",
        "TTPv2: rules that dropped something",
        "ran into its time-out of 5 s",
        "no dropped Q@C has a time",
        "query guest time",
        "slower than at more rows, beyond the spread",
        "query UTicks → query STicks",
        "a reason",
        "What has no time, and why",
        "syntax error near 'window'",
        "sample, exhaustive",
        "AMD EPYC 7B13",
        "8 GiB",
        "134217728",
        "instructions (run e1, e2): the hypervisor shows no counter of instructions",
        "cron was left running (run e2)",
        "wrote this report from the lab lab.db",
        "tare experiment run sample.toml --lab lab.db",
        "a" * 64,
        "SELECT count(*) FROM ft_HT1 -- join",
    ):
        assert part in shown, part


def test_an_accepted_check_is_marked_as_a_deviation(built: Built) -> None:
    accepted = with_primary(built, built.report, {"accepted": ["steal time"]})
    assert markdown.render(story(accepted)).count("accepted as a deviation") == 1


def test_where_nothing_is_missing_or_deviates_a_file_states_it(spotless: Built) -> None:
    shown = markdown.render(story(spotless))
    assert "None: every query ran on every DBMS at every cardinality." in shown
    assert "None was recorded." in shown


def test_servers_with_other_settings_are_listed_apart(built: Built) -> None:
    first, second = built.report.runs
    other = first.model_copy(update={"settings": {"shared_buffers": "1GB"}})
    report = built.report.model_copy(update={"runs": [first, first, other, second]})
    shown = markdown.render(story(replace(built, report=report)))
    assert shown.count("### Settings of postgresql 18.1") == 2
    assert shown.count("### Settings of mariadb 10.11.14") == 1
