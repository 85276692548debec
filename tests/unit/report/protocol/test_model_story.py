from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from tare.protocol.model.result import ModelResult, Verdict
from tare.report.kit import markdown, page
from tare.report.kit.blocks import Tone
from tare.report.kit.terminal import print_story
from tare.report.protocol.json import render_model
from tare.report.protocol.model_story import answer, p_text, story
from tests.unit.report.protocol.paper_model import observed, paper, silenced


def _text(result: ModelResult, width: int = 80, color: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None)
    print_story(story(result), console)
    return out.getvalue()


def test_the_table_has_the_shape_of_table_vi() -> None:
    lines = _text(paper(dbmses=("postgresql",))).splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["VII", "med"])
    assert lines[at].split() == ["VII", "med", "low", "low", "med", "low", "low"]
    assert lines[at + 1].split() == [
        "✓",
        "0.442",
        "✗",
        "0.784",
        "✓",
        "0.138",
        "✓",
        "0.692",
        "✓",
        "0.206",
        "~",
        "0.323",
    ]


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
    for verdict, colour in (("✓ 0.920", 32), ("~ 0.372", 33), ("✗ 0.784", 31)):
        assert re.search(rf"\x1b\[{colour}m *{verdict}", text)


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


def test_the_answer_comes_first_and_is_good_only_if_nothing_is_off_or_unjudged() -> None:
    alone = paper(dbmses=("postgresql",))
    assert answer(alone).text.endswith("1 contradicts the prediction (VIIb).")
    assert answer(alone).tone is Tone.CAUTION
    assert answer(silenced(alone, "overall_softirq")).reasons == ["11 cannot be judged on these runs"]
    exact = [observed(one.relationship, one.dbms, one.r or 0.0) for one in alone.observed]
    kept = tuple(one for one in exact if one.verdict is not Verdict.OFF)
    assert answer(replace(alone, observed=kept)).tone is Tone.GOOD
    assert _text(alone).startswith(
        "! TTPv2's causal model: of 73 correlations, 35 are as strong as predicted"
    )


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_column_is_lost_at_any_width(width: int) -> None:
    lines = _text(paper(), width).splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    assert sum(line.count("0.920") for line in lines) == 3


def test_the_page_and_the_markdown_have_every_correlation_with_the_papers_r() -> None:
    told = story(paper())
    assert "| VIIb | utility Read SysCalls | overall IOWait Ticks | low | ✗ off | 0.784 | 0.784 |" in (
        markdown.render(told)
    )
    shown = page.render(told)
    assert shown.count("VIIb") > 3
    assert len(shown.encode()) < page.MOST_BYTES


def test_json_has_every_relationship_pooled_and_by_dbms() -> None:
    document = json.loads(render_model(silenced(paper(), "overall_softirq")))
    assert (document["schema"], document["model"], document["qes"]) == ("tare-model/1", "ttp2", 555_850)
    assert list(document["by_dbms"]) == ["mariadb", "postgresql"]
    for scope in (document["pooled"], *document["by_dbms"].values()):
        assert len(scope["relationships"]) == 73
        assert sum(scope["verdicts"].values()) == 73
    rows = {one["name"]: one for one in document["pooled"]["relationships"]}
    assert (rows["If"]["r"], rows["If"]["published_r"], rows["If"]["verdict"]) == (0.92, 0.92, "exact")
    assert (rows["XIIa"]["r"], rows["XIIa"]["p"]) == (None, None)
    assert rows["XIIa"]["reason"] == "the same in every QE: overall_softirq"
