"""`tare bench report`: from runs on two real DBMSes to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tare.report.wisconsin.document import WisconsinReport
from tests.cli.running import Said, tare
from tests.unit.report.experiment.sample_lab import make_lab as make_other_lab

ASKED = ("q1", "q3", "q5", "q18", "q20", "q23", "q26", "q29")
OTHERS = ("--accept", "all")
"""Databases of other tests are at work; on a shared machine time is stolen, or `iowait` of /proc/stat goes back."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    queries = [word for name in ASKED for word in ("--query", name)]
    said = tare(
        "bench", "wisconsin", "--db", "sqlite", "--db", "duckdb", "--generation", "1993", "--rows", "1000",
        *queries, "--qes", "6",
        "--lab", str(folder / "lab.db"), "--dir", str(folder / "databases"), timeout=600,
    )  # fmt: skip
    assert said.code == 0, said.err
    return folder / "lab.db"


def report(lab: Path, *words: str) -> Said:
    return tare("bench", "report", "1", "2", "--lab", str(lab), *words, timeout=300)


@dataclass(frozen=True)
class Written:
    said: Said
    html: Path
    markdown: Path
    report: WisconsinReport


@pytest.fixture(scope="module")
def written(lab: Path) -> Written:
    html, markdown, as_json = (lab.parent / name for name in ("w.html", "w.md", "w.json"))
    files = ("--html", str(html), "--markdown", str(markdown), "--json", str(as_json))
    said = report(lab, *files, "--title", "T", *OTHERS)
    assert said.code == 0, said.err
    return Written(said, html, markdown, WisconsinReport.model_validate_json(as_json.read_text()))


@pytest.fixture(scope="module")
def found(written: Written) -> WisconsinReport:
    return written.report


def test_real_runs_have_a_time_and_a_path_for_every_query_on_both(found: WisconsinReport) -> None:
    assert {one.dbms for one in found.systems} == {"sqlite", "duckdb"}
    assert {(one.system, one.query) for one in found.times} == {
        (system.label, name) for system in found.systems for name in ASKED
    }
    assert all(one.elapsed.ms and one.elapsed.n == 6 for one in found.times)
    assert all(one.access for one in found.times if one.query not in ("q26", "q29"))


def test_two_dbmses_gave_the_same_answers(found: WisconsinReport) -> None:
    assert found.answers.compared == 6 * len(ASKED)
    assert found.answers.differing == []
    assert found.headline[1].startswith("All answers agree")


def test_each_dbms_answers_the_papers_questions_in_its_own_way(found: WisconsinReport) -> None:
    verdicts = {
        (question.key, one.system.split()[0]): one.verdict
        for question in found.questions
        for one in question.answers
    }
    assert verdicts["least-key", "SQLite"] == "yes"
    assert verdicts["least-key", "DuckDB"] == "no"
    assert verdicts["duplicates", "SQLite"] == "yes"
    assert verdicts["duplicates", "DuckDB"] == "no"
    assert verdicts["joins", "SQLite"] == "not measured"


def test_how_the_tables_were_laid_stands_in_the_conditions(found: WisconsinReport) -> None:
    assert all(run.deviations for run in found.runs)


def test_one_call_writes_html_markdown_and_json(written: Written) -> None:
    assert (written.said.code, written.said.out, written.said.err) == (0, "", "")
    assert written.html.stat().st_size < 1_500_000
    assert "<h1>T</h1>" in written.html.read_text()
    assert written.markdown.read_text().startswith("# T\n")
    assert written.report.title == "T"


def test_without_a_file_the_findings_are_printed(lab: Path) -> None:
    said = report(lab, *OTHERS)
    assert said.code == 0, said.err
    assert "Does the minimum of a key come from the index alone? (section 4.4)" in said.out


def test_a_run_of_another_experiment_is_refused_with_what_to_do(tmp_path: Path) -> None:
    other = make_other_lab(tmp_path / "other.db")
    said = tare("bench", "report", "1", "--lab", str(other))
    assert said.code == 2
    assert "run e1 is of the experiment 'sample', not of the Wisconsin benchmark" in said.err
    assert "tare report" in said.err


def test_a_run_that_there_is_not_and_a_file_that_cannot_be_are_told_before_any_work(
    lab: Path, tmp_path: Path
) -> None:
    assert report(lab, "--html", str(tmp_path / "no" / "w.html")).code == 2
    said = tare("bench", "report", "9", "--lab", str(lab))
    assert said.code == 2
    assert "9" in said.err
