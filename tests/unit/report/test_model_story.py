from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from tare.protocol.model.result import ModelResult, Verdict
from tare.report.kit import markdown, page
from tare.report.kit.blocks import Story, Tone
from tare.report.kit.blocks import Verdict as Answer
from tare.report.kit.terminal import print_story
from tare.report.model_json import render
from tare.report.model_story import p_text, story
from tare.report.origin import Origin
from tests.unit.report.paper_model import observed, paper, silenced

ORIGIN = Origin(("1", "2"), "lab.db", "2025-03-01T09:00:00+00:00", "0.1.0")


def _text(result: ModelResult, width: int = 80, color: bool = False) -> str:
    out = io.StringIO()
    print_story(
        story(result, ORIGIN),
        Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None),
    )
    return out.getvalue()


def _answer(result: Story) -> Answer:
    block = result.blocks[0]
    assert isinstance(block, Answer)
    return block


def test_the_table_has_the_shape_of_table_vi() -> None:
    lines = _text(paper(dbmses=("postgresql",))).splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["VII", "med"])
    assert lines[at].split() == ["VII", "med", "low", "low", "med", "low", "low"]
    assert lines[at + 1].split() == [
        "0.442",
        "✓",
        "0.784",
        "✗",
        "0.138",
        "✓",
        "0.692",
        "✓",
        "0.206",
        "✓",
        "0.323",
        "~",
    ]


def test_the_answer_comes_first() -> None:
    text = " ".join(_text(paper(dbmses=("postgresql",))).split())
    assert text.startswith(
        "! TTPv2's causal model: predicted correlations over 555 850 QEs: 35 exact, 37 close and 1 off."
    )


def test_the_answer_is_good_only_if_every_correlation_is_exact() -> None:
    result = paper("ttp1")
    assert _answer(story(result, ORIGIN)).tone is Tone.GOOD
    first, *others = result.observed
    close = observed(first.relationship, first.dbms, 0.5)
    assert close.verdict is Verdict.CLOSE
    changed = ModelResult(
        result.model, result.title, result.citation, result.qes, result.dbmses, (close, *others), "ttp1"
    )
    answer = _answer(story(changed, ORIGIN))
    assert answer.tone is Tone.CAUTION
    assert answer.text.startswith(
        "predicted correlations over 555\u202f850 QEs that ttp1 retains: 26 exact, 1 close"
    )


def test_files_have_every_scope_and_every_cell() -> None:
    report = story(paper(), ORIGIN)
    for text in (page.render(report), markdown.render(report)):
        for expected in (
            "runs 1, 2 of lab.db · written 2025-03-01 by Tare 0.1.0",
            "pooled over mariadb, postgresql, each scaled by itself",
            "0.784 ✗",
            "off (two levels, or negative)",
            "DBMS metrology: Measuring query time",
        ):
            assert expected in text
        assert text.count("0.784 ✗") == 3


def test_the_counts_are_those_of_the_paper() -> None:
    text = _text(paper(dbmses=("postgresql",)))
    assert "✓ 35 exact" in text
    assert "~ 37 close" in text
    assert "✗ 1 off" in text


def test_what_is_off_is_told_in_words() -> None:
    text = " ".join(_text(paper(dbmses=("postgresql",))).split())
    assert (
        "✗ VIIb: utility Read SysCalls → overall IOWait Ticks, low predicted: r = 0.784 (p < 1e-308" in text
    )


def test_one_dbms_is_not_shown_twice() -> None:
    assert _text(paper(dbmses=("postgresql",))).count("✗ 1 off") == 1
    assert _text(paper()).count("✗ 1 off") == 3


def test_a_measure_that_rests_is_named_once() -> None:
    text = _text(silenced(paper(dbmses=("postgresql",)), "overall_softirq"))
    assert text.count("overall_softirq") == 1
    assert "= the same in every QE: overall_softirq" in text


def test_verdicts_are_coloured() -> None:
    text = _text(paper(dbmses=("postgresql",)), color=True)
    for verdict, colour in (("0.920 ✓", 32), ("0.372 ~", 33), ("0.784 ✗", 31)):
        assert f"\x1b[{colour}m{verdict}" in text


@pytest.mark.parametrize("name", ["ttp1", "ttp2"])
def test_eighty_columns_suffice(name: str) -> None:
    text = _text(paper(name))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "< 1e-308"), (3.2e-12, "= 3.2e-12"), (0.0449, "= 0.045"), (0.5, "= 0.500")]
)
def test_how_a_p_is_written(p: float, text: str) -> None:
    assert p_text(p) == text


def test_json_has_every_relationship_pooled_and_by_dbms() -> None:
    document = json.loads(render(silenced(paper(), "overall_softirq")))
    assert (document["schema"], document["model"], document["qes"]) == ("tare-model/1", "ttp2", 555_850)
    assert list(document["by_dbms"]) == ["mariadb", "postgresql"]
    for scope in (document["pooled"], *document["by_dbms"].values()):
        assert len(scope["relationships"]) == 73
        assert sum(scope["verdicts"].values()) == 73
    rows = {one["name"]: one for one in document["pooled"]["relationships"]}
    assert (rows["If"]["r"], rows["If"]["published_r"], rows["If"]["verdict"]) == (0.92, 0.92, "exact")
    assert (rows["XIIa"]["r"], rows["XIIa"]["p"]) == (None, None)
    assert rows["XIIa"]["reason"] == "the same in every QE: overall_softirq"
