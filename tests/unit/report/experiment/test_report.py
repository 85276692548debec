"""The report of the sample lab: what is in it, that its variants agree, and that it stays small and harmless."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tare.lab.frames import Frames, open_frames
from tare.report.charts.chart import MOST_MARKS, Chart, NoChart, columns
from tare.report.charts.theme import PALETTE
from tare.report.conditions.facts import Facts, facts_of
from tare.report.document import as_json
from tare.report.experiment.build import Built, build
from tare.report.experiment.document import QatC, Report
from tare.report.experiment.story import story
from tare.report.kit import markdown, page
from tare.report.kit.markdown import fenced, plain
from tare.report.kit.shell import MOST_BYTES
from tare.report.safe import short
from tests.unit.report.experiment import sample_outcome
from tests.unit.report.experiment.sample_lab import make_lab

PUBLISHED = Path(__file__).parents[4] / "schemas" / "report-v1.json"


def chart(built: Built, name: str) -> Chart:
    return next(one for one in built.charts if isinstance(one, Chart) and one.name == name)


def html(built: Built) -> str:
    return page.render(story(built))


def as_markdown(built: Built) -> str:
    return markdown.render(story(built))


# The document ------------------------------------------------------------------------
def test_the_json_keeps_to_the_schema_and_reads_back_as_the_same_report(built: Built) -> None:
    text = as_json(built.report)
    jsonschema.validate(
        json.loads(text), json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator
    )
    assert Report.model_validate_json(text) == built.report


def test_what_could_not_be_run_is_listed_with_its_reason(built: Built) -> None:
    missing = {(one.dbms, one.query, one.cardinality): one.why for one in built.report.missing}
    assert missing == {
        ("mariadb", "window", None): "syntax error near 'window'",
        ("postgresql", "sort", 40_000): "no space left on device",
    }


def test_every_q_at_c_that_was_timed_has_a_row_with_all_protocols(built: Built) -> None:
    assert len(built.report.times) == 44 == sum(run.qatcs for run in built.report.runs)
    assert all(set(one.times) == {"ttp1", "ttp2", "exact"} for one in built.report.times)
    dropped = [one for one in built.report.times if one.times["ttp2"].rule]
    assert {one.query for one in dropped} == {"point"}
    assert all(one.times["ttp2"].time_ms is None for one in dropped)


def test_rules_are_counted_with_one_case_of_evidence(built: Built) -> None:
    ttp2 = built.report.protocol("ttp2")
    assert ttp2 is not None
    rules = {one.rule: one for one in ttp2.rules}
    assert set(rules) == {"ephemeral process", "timed out", "two ticks or less"}
    assert rules["two ticks or less"].dropped == 10
    assert rules["timed out"].example == "ran into its time-out of 5 s"


def test_ttp2_comes_first_on_one_cpu_and_the_exact_protocol_on_several(
    frames: Frames, tmp_path: Path
) -> None:
    lab = make_lab(tmp_path / "two.db", cpus=2)
    of = open_frames(str(lab))
    outcomes = [sample_outcome.outcome(of, name) for name in ("ttp1", "ttp2", "exact")]
    two = build(of, facts_of(str(lab), [1, 2]), outcomes, [], lab="two.db")
    assert two.report.primary == "exact"
    assert "2 CPUs" in two.report.primary_why


def test_a_stopped_protocol_leaves_the_others_reported(frames: Frames, facts: list[Facts]) -> None:
    outcomes = [
        sample_outcome.outcome(frames, "ttp2", stopped="10 missing queries"),
        sample_outcome.outcome(frames, "exact"),
    ]
    built = build(frames, facts, outcomes, [], lab="lab.db")
    assert built.report.primary == "exact"
    assert "10 missing queries" in html(built)


def test_where_every_protocol_was_stopped_the_report_says_so_and_draws_nothing_of_times(
    frames: Frames, facts: list[Facts]
) -> None:
    outcomes = [
        sample_outcome.outcome(frames, name, stopped="10 missing queries") for name in ("ttp2", "exact")
    ]
    built = build(frames, facts, outcomes, [], lab="lab.db")
    assert built.report.primary == "ttp2"
    assert built.report.times == []
    assert all(isinstance(one, NoChart) and one.why for one in built.charts)
    shown = html(built)
    assert "so no time is reported" in shown
    assert "is not drawn" in shown
    assert "so no time is reported" in as_markdown(built)


# Charts ------------------------------------------------------------------------------
def test_no_chart_draws_more_marks_than_its_limit(built: Built) -> None:
    assert all(one.marks <= MOST_MARKS for one in built.charts if isinstance(one, Chart))


def test_the_parts_of_each_bar_add_up_to_the_measured_time(built: Built) -> None:
    bars = chart(built, "components").data["components"]
    for one in built.report.times:
        parts = [
            bar["ms"] for bar in bars
            if bar["query"] == one.query and bar["bar"] == f"{one.dbms} · {one.cardinality:,}"
        ]  # fmt: skip
        if parts:
            assert sum(parts) == pytest.approx(one.measured_ms, rel=1e-3)


def test_every_qe_stands_in_run_order_and_dropped_ones_carry_their_rule(built: Built) -> None:
    points = chart(built, "run-order").data["qes-in-order"]
    assert [point["at"] for point in points] == sorted(point["at"] for point in points)
    assert len(points) == 440
    rules = {point["rule"] for point in points}
    assert rules == {"retained", "ephemeral process", "timed out", "two ticks or less"}


def test_monotonicity_violations_are_marked_where_the_times_have_them(built: Built) -> None:
    marked = {
        (row["dbms"], row["query"], row["cardinality"])
        for row in chart(built, "cardinality").data["times"]
        if row["violation"]
    }
    assert marked == {("postgresql", "scan", 120_000), ("mariadb", "scan", 120_000)}


def test_pairs_are_of_successive_qes_of_one_q_at_c(built: Built) -> None:
    pairs = chart(built, "pairs").data["pairs"]
    assert pairs
    assert {row["number"] for row in pairs} == {1, 3, 5, 7, 9}


def test_the_timeline_shows_processes_of_every_fate(built: Built) -> None:
    lines = chart(built, "timeline").data["processes"]
    fates = {row["fate"] for row in lines}
    assert {"steady", "started", "phantom"} <= fates
    assert all(row["dashed"] is (row["fate"] != "steady") for row in lines)


def test_a_large_lab_is_aggregated_and_the_caption_says_so(tmp_path: Path) -> None:
    lab = make_lab(tmp_path / "large.db", qes=80)
    of = open_frames(str(lab))
    outcomes = [sample_outcome.outcome(of, name) for name in ("ttp2", "exact")]
    large = build(of, facts_of(str(lab), [1, 2]), outcomes, [], lab="large.db")
    order = chart(large, "run-order")
    assert "median of about 10 retained QEs" in order.caption
    assert order.marks <= MOST_MARKS
    assert sum(row["qes"] for row in order.data["qes-in-order"]) == 80 * 44
    assert len(html(large).encode()) < MOST_BYTES


@pytest.mark.parametrize("page", ["#ffffff", "#14171b"])
def test_every_colour_can_be_told_from_the_page_in_light_and_dark(page: str) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for colour in PALETTE:
        light, dark = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_columns_hold_every_value_of_the_rows() -> None:
    rows = [{"a": "x", "n": 1.234567}, {"a": "x", "n": None}, {"a": "y", "n": float("inf")}]
    assert columns(rows) == {"a": {"of": ["x", "y"], "at": [0, 0, 1]}, "n": [1.2346, None, None]}


# The page ------------------------------------------------------------------------------
def test_the_page_is_one_file_of_moderate_size_with_every_section(built: Built) -> None:
    shown = html(built)
    assert len(shown.encode()) < MOST_BYTES
    for key in (
        "statement",
        "protocols",
        "checks",
        "times",
        "qes",
        "models",
        "missing",
        "conditions",
        "reproduce",
    ):
        assert shown.count(f'<section id="{key}"') == 1
    words = re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)
    assert len(words) < len(shown) - 900_000, "the charts' library is within scripts"
    assert not re.findall(r'(?:src|href)="(?!#)', words)


def test_the_papers_figures_stand_beside_ours(built: Built) -> None:
    shown = html(built)
    row = re.search(r"retained Q@Cs</th>(.*?)</tr>", shown)
    assert row
    assert row.group(1).count("77%") == 3
    assert '<span class="quiet">96%</span>' in row.group(1)
    calculated = re.search(r"calculated time</th>(.*?)</tr>", shown)
    assert calculated
    assert '<span class="quiet">2.1%</span>' in calculated.group(1)


def test_fifty_thousand_q_at_cs_with_long_names_still_make_a_small_page(built: Built) -> None:
    name = "<b>" + "ü" * 5000
    times: list[QatC] = [one.model_copy(update={"query": name}) for one in built.report.times]
    report = built.report.model_copy(
        update={
            "times": times * 1200,
            "missing": [one.model_copy(update={"why": "x" * 10_000}) for one in built.report.missing] * 5000,
            "reproduction": [
                one.model_copy(update={"toml": "#" * 900_000, "queries": [(name, "S" * 50_000)] * 400})
                for one in built.report.reproduction
            ],
        }
    )
    shown = html(replace(built, report=report))
    assert len(shown.encode()) < MOST_BYTES
    assert "of 52800; all are in the JSON report" in shown
    assert "Cut here; the JSON report has the whole." in shown


def test_names_are_cut_and_lose_what_cannot_be_shown() -> None:
    assert short("a" * 500) == "a" * 119 + "…"
    assert short("a\x00b\u202ec\ud800") == "abc?"


# Markdown ------------------------------------------------------------------------------
def test_markdown_tells_the_same_figures(built: Built) -> None:
    text = as_markdown(built)
    ttp2 = built.report.protocol("ttp2")
    assert ttp2 is not None
    assert all(plain(paragraph) in text for paragraph in ttp2.statement.paragraphs)
    assert "| retained Q@Cs | 77% | 77% | 77% | 76% | 96% |" in text
    assert text.count("dropped: two ticks or less") == 10


def test_markdown_cannot_be_broken_out_of(built: Built) -> None:
    changes: dict[str, Any] = {"why": "</td><script>x</script> | y\n# z", "query": "`a`*b*"}
    report = built.report.model_copy(
        update={"missing": [one.model_copy(update=changes) for one in built.report.missing]}
    )
    text = as_markdown(replace(built, report=report))
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "\n# z" not in text
    assert fenced("a\n```\nb", "").startswith("````")


def test_a_lab_and_its_export_give_the_same_facts(lab: Path, tmp_path: Path) -> None:
    from tare.lab.exporting import export
    from tare.lab.store import open_lab

    folder = tmp_path / "export"
    with open_lab(str(lab)) as opened:
        export(opened, [1, 2], folder)
    here, there = facts_of(str(lab), [1, 2]), facts_of(str(folder), [1, 2])
    assert [one.experiment for one in here] == [one.experiment for one in there]
    assert [one.dbms["settings"] for one in here] == [one.dbms["settings"] for one in there]
    assert [one.machine["facts"] for one in here] == [one.machine["facts"] for one in there]
    assert [one.run["deviations"] for one in here] == [one.run["deviations"] for one in there]
