"""The story of protocols over the sample lab: the answer first, and every table in every medium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tare.lab.frames import Frames, open_frames
from tare.protocol.fewer import Fewer
from tare.protocol.outcome import Outcome
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Story, Tone, Verdict
from tare.report.origin import Origin
from tare.report.protocol_story import share_text, story
from tests.unit.report.experiment import sample_outcome
from tests.unit.report.experiment.sample_lab import make_lab

ORIGIN = Origin(("1",), "lab.db", "2025-03-01T09:00:00+00:00", "0.1.0")
FEWER = {"ttp2": (Fewer(10, 44, 10, 9.4), Fewer(9, 44, 12, None))}
LEVEL_HEADING = "experiment-wide: none may be violated"


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    return open_frames(str(make_lab(tmp_path_factory.mktemp("lab") / "lab.db")))


@pytest.fixture(scope="module")
def outcomes(frames: Frames) -> list[Outcome]:
    return [sample_outcome.outcome(frames, name) for name in ("ttp1", "ttp2", "exact")]


def _answers(report: Story) -> list[Verdict]:
    return [block for block in report.blocks if isinstance(block, Verdict)]


def _answer(outcome: Outcome) -> Verdict:
    (answer,) = _answers(story([outcome], {}, ORIGIN))
    return answer


def _unquestioned(outcome: Outcome) -> Outcome:
    """The outcome without checks that were not judged and without violations of post checks."""
    return replace(
        outcome,
        checks=tuple(one for one in outcome.checks if not one.unjudged),
        post=tuple(replace(one, value=0.0) for one in outcome.post),
    )


# The answer ------------------------------------------------------------------------------
def test_each_protocol_is_answered_before_the_first_section(outcomes: Sequence[Outcome]) -> None:
    report = story(outcomes, {}, ORIGIN)
    answers = report.blocks[:3]
    assert _answers(report) == list(answers)
    assert [one.title for one in _answers(report)] == [one.title for one in outcomes]
    assert _answers(report)[1].text.startswith("34 of 44 Q@Cs (77%) and ")


def test_an_answer_is_good_only_where_nothing_stands_against_it(outcomes: Sequence[Outcome]) -> None:
    unquestioned = _unquestioned(outcomes[1])
    assert (_answer(unquestioned).tone, _answer(unquestioned).reasons) == (Tone.GOOD, [])
    for changed, reason in (
        (outcomes[1], "guest time: not judged: guest time is not known"),
        (outcomes[1], "calculated times, strict monotonicity: 5.3%"),
        (replace(unquestioned, deviations=("two CPUs",)), "deviation: two CPUs"),
        (replace(unquestioned, accepted=("steal time",)), "accepted although violated: steal time"),
    ):
        answer = _answer(changed)
        assert answer.tone is Tone.CAUTION
        assert reason in answer.reasons


def test_without_a_q_at_c_that_is_retained_there_is_no_result(outcomes: Sequence[Outcome]) -> None:
    unquestioned = _unquestioned(outcomes[1])
    *others, last = unquestioned.remaining
    nothing = replace(unquestioned, remaining=(*others, replace(last, qatcs=0, qes=0)))
    assert _answer(nothing).tone is Tone.BAD


def test_a_protocol_that_was_stopped_says_what_to_do_and_shows_its_checks(frames: Frames) -> None:
    stopped = sample_outcome.outcome(frames, stopped="10 missing queries")
    answer = _answer(stopped)
    assert (answer.tone, answer.text) == (Tone.BAD, "stopped: 10 missing queries")
    assert "--accept CHECK" in answer.reasons[-1]
    shown = terminal.render(story([stopped], {}, ORIGIN))
    assert LEVEL_HEADING in shown
    assert "time, ms" not in shown


# The whole -------------------------------------------------------------------------------
def test_every_table_is_in_every_medium(outcomes: Sequence[Outcome]) -> None:
    report = story(outcomes, FEWER, ORIGIN)
    for text in (terminal.render(report), markdown.render(report), page.render(report)):
        whole = " ".join(text.split())
        for expected in (
            "paper of ttp2",
            LEVEL_HEADING,
            "ephemeral process",
            "after step 3-(iii)",
            "Q@Cs dropped",
            "over the calculated times",
            "query guest time",
            "regression of iowait, postgresql: a = 0.5",
            "two ticks or less",
            "the first 40 Q@Cs; --times FILE.csv writes them all",
            "side by side",
            "relative error, calculated",
        ):
            assert expected in whole
    assert "run 1 of lab.db · written 2025-03-01 by Tare 0.1.0" in page.render(report)


def test_what_could_not_be_judged_stands_with_its_check(outcomes: Sequence[Outcome]) -> None:
    some = replace(outcomes[1].checks[0], unjudged="an unknown clock")
    shown = terminal.render(story([replace(outcomes[1], checks=(some, *outcomes[1].checks[1:]))], {}, ORIGIN))
    assert "guest time (not judged: guest time is not known)" in shown
    assert "(not judged in some: an unknown clock)" in " ".join(shown.split())


@pytest.mark.parametrize("width", [60, 80])
def test_no_line_is_wider_than_the_terminal(outcomes: Sequence[Outcome], width: int) -> None:
    shown = terminal.render(story(outcomes, FEWER, ORIGIN), width)
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0.0, "0%"), (1.0, "100%"), (0.0526, "5.3%"), (0.00023, "0.023%")]
)
def test_a_share_has_two_significant_digits(share: float | None, text: str) -> None:
    assert share_text(share) == text
