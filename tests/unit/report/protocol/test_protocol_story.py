"""What `tare protocol` reports: the answer first, and no more trust in it than the checks allow."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tare.lab.frames import Frames, open_frames
from tare.protocol.outcome import Outcome
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Story, Tone
from tare.report.protocol.story import answer, story
from tests.unit.report.experiment import sample_outcome
from tests.unit.report.experiment.sample_lab import make_lab


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    return open_frames(str(make_lab(tmp_path_factory.mktemp("protocol") / "lab.db")))


@pytest.fixture(scope="module")
def outcomes(frames: Frames) -> list[Outcome]:
    return [sample_outcome.outcome(frames, name) for name in ("ttp1", "ttp2", "exact")]


@pytest.fixture(scope="module")
def told(outcomes: list[Outcome]) -> Story:
    return story(outcomes, {})


def test_times_may_be_relied_on_only_where_nothing_was_accepted_or_left_unjudged(
    outcomes: list[Outcome],
) -> None:
    plain = replace(
        outcomes[1], checks=tuple(replace(one, unjudged=None) for one in outcomes[1].checks), deviations=()
    )
    assert answer(plain).tone is Tone.GOOD
    assert answer(plain).text.startswith("TTPv2 gives times of 34 of 44 Q@Cs (77%), from ")
    for change in (
        {"accepted": ("missing queries",)},
        {"deviations": ("cron was left running",)},
        {"checks": (replace(plain.checks[0], unjudged="no server reported it"),)},
    ):
        assert answer(replace(plain, **change)).tone is Tone.CAUTION, change
    assert answer(replace(plain, stopped="10 missing queries")).tone is Tone.BAD


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_table_is_whole_at_any_width(told: Story, width: int) -> None:
    text = terminal.render(told, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    words = " ".join(text.split())
    assert text[2:].startswith("TTPv1 gives times of")
    assert "slower than at more rows" in words
    assert words.count("the first 40 of 44; all are in the JSON report") == 3


def test_printing_draws_no_chart(told: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError("a chart was drawn")

    monkeypatch.setattr("tare.report.protocol.charts.funnel.chart", drawn)
    assert terminal.render(told)


def test_a_dropped_q_at_c_has_its_rule_and_no_time(told: Story) -> None:
    dropped = re.findall(r"^\| point \| [\d ]+ \| – \| – \| .*$", markdown.render(told), re.MULTILINE)
    assert len(dropped) == 3 * 10
    assert all("dropped: two ticks or less" in one for one in dropped)


def test_the_page_shows_the_funnel_and_stays_small(told: Story) -> None:
    shown = page.render(told)
    assert shown.count('id="figure-funnel-') == 3
    assert len(shown.encode()) < page.MOST_BYTES
