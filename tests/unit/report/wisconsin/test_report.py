"""The benchmark's report of a lab filled by hand: what follows from its times is what was put in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from sqlalchemy import insert, update

from tare.errors import UsageError
from tare.lab import schema as lab_schema
from tare.lab.exporting import export
from tare.lab.store import open_lab
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.document import as_json
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Tone, Verdict
from tare.report.kit.shell import MOST_BYTES
from tare.report.wisconsin.build import Built, make
from tare.report.wisconsin.document import Slope, Timed, WisconsinReport
from tare.report.wisconsin.slopes import fit
from tare.report.wisconsin.story import story
from tests.unit.report.experiment.sample_lab import make_lab as make_other_lab
from tests.unit.report.wisconsin.sample_lab import make_lab

PUBLISHED = Path(__file__).parents[4] / "schemas" / "wisconsin-v1.json"
POSTGRESQL, SQLITE = "PostgreSQL 18.1", "SQLite 3.51.1"


def timed(report: WisconsinReport, system: str, query: str, size: int) -> Timed:
    return next(one for one in report.times if (one.system, one.query, one.size) == (system, query, size))


def slope(report: WisconsinReport, system: str, query: str) -> Slope:
    return next(one for one in report.slopes if (one.system, one.query) == (system, query))


# The document ------------------------------------------------------------------------
def test_the_json_keeps_to_the_schema_and_reads_back_as_the_same_report(built: Built) -> None:
    said = as_json(built.report)
    jsonschema.validate(
        json.loads(said), json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator
    )
    assert WisconsinReport.model_validate_json(said) == built.report


def test_runs_of_one_dbms_are_one_system_over_both_generations(built: Built) -> None:
    assert {one.label: one.runs for one in built.report.systems} == {POSTGRESQL: [1, 3], SQLITE: [2, 4]}


def test_every_time_has_its_interval_and_number_of_qes(built: Built) -> None:
    one = timed(built.report, POSTGRESQL, "q1", 10_000)
    assert one.elapsed.ms == pytest.approx(4.12, rel=0.03)
    assert one.elapsed.low_ms is not None
    assert one.elapsed.high_ms is not None
    assert one.elapsed.low_ms < one.elapsed.ms < one.elapsed.high_ms
    assert one.elapsed.n == 10


def test_the_exact_protocol_stands_beside_the_clock_without_the_wait_for_a_processor(built: Built) -> None:
    one = timed(built.report, POSTGRESQL, "q9", 100_000)
    assert one.exact is not None
    assert one.elapsed.ms is not None
    assert one.exact.ms == pytest.approx(0.9 * one.elapsed.ms, rel=0.01)
    assert built.report.exact.accepted == ["missing queries"]


def test_a_query_that_mostly_timed_out_has_no_median(built: Built) -> None:
    one = timed(built.report, SQLITE, "q19", 10_000)
    assert (one.elapsed.ms, one.elapsed.high_ms, one.timeouts) == (None, None, 7)


def test_what_could_not_be_run_is_listed_with_its_reason(built: Built) -> None:
    missing = {(one.dbms, one.query, one.cardinality): one.why for one in built.report.missing}
    assert missing == {
        ("sqlite", "select_1tuple_screen_hash", None): "SQLite has no hash index",
        **{("sqlite", "q11", size): "no space left on device" for size in (10_000, 31_600, 100_000)},
    }


# What follows from the times -----------------------------------------------------------
def test_answers_are_compared_variant_by_variant(built: Built) -> None:
    found = built.report.answers
    assert found.compared - found.equal == 3
    assert {(one.query, one.variant, one.size) for one in found.differing} == {
        ("q12", 4, size) for size in (10_000, 31_600, 100_000)
    }
    assert found.differing[0].answers[SQLITE] == f"1 rows, {'f' * 32}"


def test_the_speed_up_by_an_index_is_the_ratio_that_was_put_in(built: Built) -> None:
    found = {(one.system, one.query, one.size): one for one in built.report.speed_ups}
    one = found[POSTGRESQL, "q3", 100_000]
    assert one.heap_query == "q1"
    assert one.ratio.estimate == pytest.approx(40 * 1.03 / (0.05 + 40 * 0.01 * 3), rel=0.02)
    assert one.ratio.low is not None
    assert one.ratio.high is not None
    assert one.ratio.low < one.ratio.estimate < one.ratio.high
    assert one.ratio.established
    harmed = found[POSTGRESQL, "select_100pct_nonclustered", 10_000].ratio
    assert harmed.estimate < 1
    assert harmed.established


def test_slopes_are_the_powers_that_were_put_in_and_are_named(built: Built) -> None:
    report = built.report
    assert slope(report, POSTGRESQL, "q9").slope == pytest.approx(1.0, abs=0.03)
    assert slope(report, POSTGRESQL, "q9").name == "linear"
    assert slope(report, SQLITE, "q9").slope == pytest.approx(2.0, abs=0.03)
    assert slope(report, SQLITE, "q9").name == "quadratic"
    assert slope(report, POSTGRESQL, "q7").slope == pytest.approx(0.0, abs=0.03)
    assert slope(report, POSTGRESQL, "q7").name == "constant"
    assert slope(report, SQLITE, "q9").sizes == [10_000, 31_600, 100_000]
    assert not any(one.generation == "1983" for one in report.slopes), "1983 has one size"


def test_a_slope_that_the_qes_do_not_decide_is_not_named() -> None:
    wide = {1_000: [1.0, 9.0, 2.0, 30.0, 1.0, 5.0], 2_000: [40.0, 1.0, 3.0, 2.0, 60.0, 5.0]}
    assert fit(wide).name == "undecided"
    assert fit({1_000: [4.0] * 6, 10_000: [1.0] * 6}).name == "falling"
    assert fit({1_000: [4.0], 10_000: [400.0]}).name == "quadratic", "one QE a size: the slope itself"


def test_the_papers_questions_are_answered_for_each_system(built: Built) -> None:
    verdicts = {
        question.key: {one.system: one.verdict for one in question.answers}
        for question in built.report.questions
    }
    assert verdicts == {
        "nonclustered": {POSTGRESQL: "yes", SQLITE: "yes"},
        "least-key": {POSTGRESQL: "yes", SQLITE: "yes"},
        "partitions": {POSTGRESQL: "yes", SQLITE: "yes"},
        "joins": {POSTGRESQL: "no", SQLITE: "yes"},
        "duplicates": {POSTGRESQL: "no", SQLITE: "yes"},
        "updates": {POSTGRESQL: "yes", SQLITE: "yes"},
    }


def test_an_index_that_harms_is_named_with_the_selectivities(built: Built) -> None:
    asked = next(one for one in built.report.questions if one.key == "nonclustered")
    assert (
        asked.answers[0].short
        == "by the index, and slower than on the heap: 20%, 50%, 100% (1983 at 10\u202f000 tuples)"
    )
    harmed = next(line for line in asked.answers[0].evidence if "1983, 50%, non-clustered" in line)
    assert re.search(r"it takes 2\.\d+ \[2\.\d+, 2\.\d+\] times the time of the same selection", harmed)


def test_the_findings_come_first_and_say_what_ran_and_whether_answers_agree(built: Built) -> None:
    first, second, *_ = built.report.headline
    assert "48 queries of 1983 at 10\u202f000 tuples and 32 queries of 1993" in first
    assert second.startswith("Answers differ in 3 of")
    assert terminal.render(story(built)).startswith("! PostgreSQL 18.1 and SQLite 3.51.1 ran")


def verdict(built: Built) -> Verdict:
    first = story(built).blocks[0]
    assert isinstance(first, Verdict)
    return first


def test_the_verdict_names_what_stands_against_the_times(built: Built) -> None:
    found = verdict(built)
    assert found.tone is Tone.CAUTION
    assert found.reasons == [
        "Four queries or Q@Cs have no time; the written report lists each with the reason.",
        "Three Q@Cs have QEs that timed out.",
    ]


def test_the_verdict_is_good_only_if_all_is_measured_and_all_answers_agree(built: Built) -> None:
    report, measured = built.report, built.measured
    agreed = report.answers.model_copy(update={"equal": report.answers.compared, "differing": []})
    in_time = [one.model_copy(update={"timeouts": 0}) for one in report.times]
    clean = report.model_copy(update={"answers": agreed, "missing": [], "times": in_time})
    assert verdict(Built(clean, measured)).tone is Tone.GOOD
    stopped = report.exact.model_copy(update={"stopped": "too few QEs"})
    accepted = report.exact.model_copy(update={"accepted": ["missing queries", "other utility process"]})
    for change, tone in (
        ({"answers": report.answers}, Tone.CAUTION),
        ({"answers": agreed.model_copy(update={"compared": 0, "equal": 0})}, Tone.CAUTION),
        ({"missing": report.missing}, Tone.CAUTION),
        ({"unfinished": ["Run 1 is paused"]}, Tone.CAUTION),
        ({"exact": stopped}, Tone.CAUTION),
        ({"exact": accepted}, Tone.CAUTION),
        ({"times": report.times}, Tone.CAUTION),
        ({"times": []}, Tone.BAD),
    ):
        assert verdict(Built(clean.model_copy(update=change), measured)).tone is tone, change.keys()


def test_with_one_size_joins_are_judged_by_their_plans(lab: Path) -> None:
    report = make(str(lab), ["1", "2"]).report
    joins = next(one for one in report.questions if one.key == "joins")
    assert [one.verdict for one in joins.answers] == ["no", "yes"]
    assert all("by their plans; one size was run" in one.short for one in joins.answers)
    assert report.slopes == []


def test_what_was_not_run_is_not_answered(lab: Path) -> None:
    """A system of one run alone has no other to agree with."""
    report = make(str(lab), ["3"]).report
    assert report.headline[1].startswith("Answers could not be compared, for there is one system")
    assert report.answers.compared == 0


# Its three forms -------------------------------------------------------------------------
def test_the_page_holds_a_table_for_each_of_the_papers_and_stays_small(built: Built) -> None:
    html = page.render(story(built))
    assert len(html.encode()) < MOST_BYTES
    assert "in the JSON report" not in html  # nothing was cut
    tables = re.findall(r"<caption>Table (\d+): the systems of 1983 and of today</caption>", html)
    assert tables == [str(number) for number in range(1, 12)]
    assert "://" not in re.sub(r'<script>.*?</script>|"https://vega[^"]*"', "", html, flags=re.DOTALL)


def test_the_markdown_has_the_same_numbers(built: Built) -> None:
    said = markdown.render(story(built))
    assert said.startswith("# The Wisconsin benchmark\n")
    assert said.count("\n### Table ") == 11
    assert "| U-INGRES | 53.2 s | 64.4 s |" in said
    assert "&gt; 5 hours" not in said
    assert "| q1 | heap: 1% of the tuples, range on unique2, into a relation |" in said
    one = timed(built.report, POSTGRESQL, "select_1pct_heap", 10_000)
    assert re.search(rf"PostgreSQL 18\.1, elapsed \| {one.elapsed.ms:.2f}\d* ms \\\[", said)


def test_charts_keep_to_the_most_marks_and_have_words(built: Built) -> None:
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    assert len(drawn) == 16
    assert len({one.name for one in drawn}) == 16
    for one in drawn:
        assert sum(map(len, one.data.values())) <= one.marks <= MOST_MARKS, one.name
        assert len(one.alt) > 20
        assert len(one.caption) > 20


def test_what_stands_in_a_deviation_reaches_the_conditions_and_cannot_become_markup(tmp_path: Path) -> None:
    said = "loaded with <script>alert(1)</script> in 0.4 s | *quickly*"
    found = make(str(make_lab(tmp_path / "lab.db", said=said)), ["1"])
    assert said in found.report.runs[0].deviations
    html = page.render(story(found))
    assert "<script>alert(1)" not in html
    assert "loaded with &lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert r"\<script\>alert(1)\</script\> in 0.4 s \| \*quickly\*" in markdown.render(story(found))


# Where it comes from ------------------------------------------------------------------------
def test_an_export_gives_the_same_report_as_its_lab(lab: Path, built: Built, tmp_path: Path) -> None:
    with open_lab(str(lab)) as opened:
        export(opened, [1, 2, 3, 4], tmp_path / "export")
    again = make(str(tmp_path / "export"), ["1", "2", "3", "4"]).report
    same = {"lab": built.report.lab, "written_at": built.report.written_at}
    assert again.model_copy(update=same) == built.report


def test_runs_of_the_same_queries_on_one_dbms_are_told_apart_by_their_number(
    lab: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "lab.db"
    copy.write_bytes(lab.read_bytes())
    with open_lab(str(copy)) as opened, opened.writing() as connection:
        connection.execute(update(lab_schema.run).where(lab_schema.run.c.id == 2).values(dbms_id=1))
    assert [one.label for one in make(str(copy), ["1", "2"]).report.systems] == [
        "PostgreSQL 18.1, run e1",
        "PostgreSQL 18.1, run e2",
    ]


def test_cold_runs_are_a_system_of_their_own(lab: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lab.db"
    copy.write_bytes(lab.read_bytes())
    with open_lab(str(copy)) as opened, opened.writing() as connection:
        connection.execute(update(lab_schema.run).where(lab_schema.run.c.id == 3).values(cache="cold"))
    assert [one.label for one in make(str(copy), ["1", "3"]).report.systems] == [
        "PostgreSQL 18.1",
        "PostgreSQL 18.1, cold",
    ]


def test_a_run_that_was_left_says_so_and_its_open_q_at_cs_are_missing(lab: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lab.db"
    copy.write_bytes(lab.read_bytes())
    with open_lab(str(copy)) as opened, opened.writing() as connection:
        connection.execute(
            update(lab_schema.run).where(lab_schema.run.c.id == 1).values(state="paused", said="Ctrl-C")
        )
        connection.execute(update(lab_schema.qatc).where(lab_schema.qatc.c.id == 1).values(state="pending"))
    report = make(str(copy), ["1"]).report
    assert report.unfinished == ["Run e1 on postgresql 18.1 is paused: Ctrl-C"]
    assert ("select_1pct_heap", "its run was left after 10 of its QEs") in {
        (one.query, one.why) for one in report.missing
    }


def test_a_query_of_another_version_is_listed_and_not_lost(lab: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lab.db"
    copy.write_bytes(lab.read_bytes())
    with open_lab(str(copy)) as opened, opened.writing() as connection:
        connection.execute(
            update(lab_schema.query).where(lab_schema.query.c.id == 1).values(name="select_2pct_heap")
        )
    report = make(str(copy), ["1"]).report
    assert ("select_2pct_heap", 10_000) in {(one.query, one.cardinality) for one in report.missing}


def test_a_run_of_another_experiment_is_refused(tmp_path: Path) -> None:
    other = make_other_lab(tmp_path / "other.db")
    with pytest.raises(UsageError, match="not of the Wisconsin benchmark"):
        make(str(other), ["1"])


def test_a_run_without_any_qe_is_reported_as_unfinished(lab: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lab.db"
    copy.write_bytes(lab.read_bytes())
    with open_lab(str(copy)) as opened, opened.writing() as connection:
        first = dict(
            connection.execute(
                lab_schema.run.select().where(lab_schema.run.c.id == 1)
            ).mappings().one()
        )  # fmt: skip
        connection.execute(
            insert(lab_schema.run).values({**first, "id": 9, "uuid": "9" * 32, "state": "paused"})
        )
    found = make(str(copy), ["9"])
    assert found.report.headline[0] == "PostgreSQL 18.1 ran nothing: 0 Q@Cs, 0 QEs."
    html = page.render(story(found))
    assert "PostgreSQL 18.1 ran nothing" in html
    assert "the systems of 1983" not in html  # no time of today could stand beside theirs
