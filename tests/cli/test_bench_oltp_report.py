"""`tare bench oltp report`, `compare` and `runs`: from a lab to what a reader gets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tare.lab.oltp import record
from tare.lab.store import open_lab
from tare.report.oltp.comparison import Comparison
from tare.report.oltp.document import OltpReport
from tests.cli.running import Said, tare
from tests.unit.report.oltp import sample


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a slower one, one that is not valid, and one on other hardware."""
    where = tmp_path_factory.mktemp("lab") / "lab.db"
    usual = {"rates": (200.0,), "seconds": 30, "stall": None}
    first = sample.run(**usual)  # type: ignore[arg-type]
    with open_lab(str(where), create=True) as opened:
        record(opened, first)
        slower = sample.run(uuid="bbbb4b1e-9a55-4d8e-8a26-0d6b5f6b7c11", seed=8, slower=1.5, **usual)  # type: ignore[arg-type]
        record(opened, replace(slower, asked=first.asked))
        record(opened, replace(sample.hostile(), uuid="cccc4b1e-9a55-4d8e-8a26-0d6b5f6b7c11"))
    return where


def oltp(*words: str) -> Said:
    return tare("bench", "oltp", *words)


def test_a_report_is_written_in_every_form(lab: Path, tmp_path: Path) -> None:
    html, markdown, as_json = (tmp_path / name for name in ("o.html", "o.md", "o.json"))
    said = oltp(
        "report", "1", "--lab", str(lab), "--html", str(html), "--markdown", str(markdown), "--json",
        str(as_json), "--title", "T",
    )  # fmt: skip
    assert (said.code, said.out, said.err) == (0, "", "")
    assert html.stat().st_size < 1_500_000
    assert "<h1>T</h1>" in html.read_text()
    assert markdown.read_text().startswith("# T\n")
    assert OltpReport.model_validate_json(as_json.read_text()).all.counts.offered == 6000


def test_without_a_file_the_findings_are_printed(lab: Path) -> None:
    said = oltp("report", "6f0a4b1e", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.startswith("✓ Valid: 200/s were asked for and 199.9/s succeeded")
    assert "new_order" in said.out
    assert max(map(len, said.out.splitlines())) <= 100


def test_an_invalid_run_is_reported_as_one(lab: Path) -> None:
    said = oltp("report", "3", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.startswith(
        "✗ This run is not valid: it missed its rate: 97.10/s were started of 120.00/s"
    )


def test_runs_are_listed_with_what_was_held(lab: Path) -> None:
    said = tare("bench", "oltp", "runs", "--lab", str(lab), COLUMNS="80")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert len(lines) == 4
    assert lines[1].split()[:4] == ["o1", "tpcc", "4", "postgresql"]
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].rstrip().endswith("yes")
    assert lines[3].rstrip().endswith("NO")


def test_runs_are_listed_as_json(lab: Path) -> None:
    said = oltp("runs", "--lab", str(lab), "--json")
    assert [one["valid"] for one in said.result["runs"]] == [True, True, False]
    assert said.result["runs"][0]["intended_rate"] == 200


def test_a_slower_run_is_found_to_be_slower(lab: Path) -> None:
    said = oltp("compare", "2", "1", "--lab", str(lab), "--json", "-")
    found = Comparison.model_validate_json(said.out)
    assert found.objections == []
    mean = next(
        one for one in found.ratios if (one.type, one.times, one.figure) == ("all", "response", "mean")
    )
    assert mean.established
    assert mean.ratio is not None
    assert mean.ratio.low is not None
    assert mean.ratio.high is not None
    assert mean.ratio.low < 1.5 < mean.ratio.high


def test_a_comparison_reads_in_the_terminal_and_as_markdown(lab: Path) -> None:
    said = oltp("compare", "2", "1", "--lab", str(lab))
    assert said.code == 0, said.err
    assert "times lower in B" in said.out
    assert "cannot be compared" not in said.out
    assert (
        '<div class="verdict-box rely">Response time'
        in oltp("compare", "2", "1", "--lab", str(lab), "--html", "-").out
    )
    assert oltp("compare", "2", "1", "--lab", str(lab), "--markdown", "-").out.startswith(
        "# Run o2 over run o1\n"
    )


def test_what_keeps_runs_from_being_compared_comes_first_and_no_ratio_without_an_interval(lab: Path) -> None:
    said = oltp("compare", "1", "3", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.find("cannot be compared") < said.out.find("A / B")
    assert "run B is not valid" in said.out
    assert "phases: 200/s for 30 s in A, 120/s for 8 s in B" in said.out
    table = said.out[said.out.find("A / B") :].splitlines()
    assert "[" not in "".join(table[: len(table) // 2][:10])


def test_a_run_that_is_not_there_is_told_with_what_to_do(lab: Path, tmp_path: Path) -> None:
    said = oltp("report", "9", "--lab", str(lab))
    assert said.code == 2
    assert "no transactional run '9'" in said.err
    assert "tare lab list" in said.err
    assert oltp("compare", "1", "9", "--lab", str(lab)).code == 2
    assert oltp("report", "1", "--lab", str(tmp_path / "no.db")).code == 1
    assert oltp("report", "1", "--lab", str(lab), "--html", str(tmp_path / "no" / "o.html")).code == 2


def test_ids_are_taken_by_report_and_compare(lab: Path) -> None:
    where = ("--lab", str(lab))
    for words, same in (
        (("report", "o2"), ("report", "2")),
        (("compare", "o2", "o1"), ("compare", "2", "1")),
    ):
        said, other = tare(*words, *where, "--markdown", "-"), oltp(*same, *where, "--markdown", "-")
        assert said.code == other.code == 0, said.err + other.err
        assert said.out == other.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("report", "e1", "o1"), "e1 o1: of several kinds"),
        (("report", "o1", "o2"), "`tare compare` takes two"),
        (("report", "o1", "--protocol", "ttp2"), "--protocol is about experiments, and o1 is none"),
        (("report", "e1"), "has no runs"),
        (("report", "o9"), "has no transactional run 'o9'"),
        (("bench", "oltp", "report", "e1"), "e1 is no transactional run"),
        (("protocol", "o1"), "o1 is no run of an experiment"),
        (("compare", "o1", "SELECT 1"), "1 results (o1) and 1 queries are given"),
        (("compare", "o1", "p1"), "two results of one kind"),
        (("compare", "o1", "o2", "--runs", "3"), "--runs does not go with results"),
        (("compare", "SELECT 1", "SELECT 2", "--lab", "lab.db"), "--lab is for two runs that are kept"),
        (("compare", "o1", "o9"), "has no transactional run 'o9'"),
    ],
)
def test_ids_that_do_not_fit_are_refused(lab: Path, words: tuple[str, ...], expected: str) -> None:
    said = tare(*words, TARE_LAB=str(lab))
    assert said.code == 2, said.err
    assert expected in " ".join(said.err.split())


def test_lab_list_shows_transactional_runs_too(lab: Path) -> None:
    said = tare("lab", "list", "--lab", str(lab))
    assert said.code == 0, said.err
    assert [line.split()[0] for line in said.out.splitlines() if line.strip()] == ["id", "o1", "o2", "o3"]
    assert [one["id"] for one in tare("lab", "list", "--lab", str(lab), "--json").result["oltp_runs"]] == [
        1,
        2,
        3,
    ]


def test_an_empty_lab_says_so(tmp_path: Path) -> None:
    open_lab(str(tmp_path / "lab.db"), create=True).close()
    said = oltp("runs", "--lab", str(tmp_path / "lab.db"))
    assert (said.code, "no transactional runs" in said.out) == (0, True)
    assert json.loads(oltp("runs", "--lab", str(tmp_path / "lab.db"), "--json").out)["runs"] == []


def test_a_run_goes_from_one_lab_to_another(lab: Path, tmp_path: Path) -> None:
    said = tare("lab", "export", "o2", "--lab", str(lab), "--parquet", str(tmp_path / "export"))
    assert said.code == 0, said.err
    assert "1 transactional run" in said.out
    said = tare("lab", "import", str(tmp_path / "export"), "--lab", str(tmp_path / "mine.db"))
    assert said.code == 0, said.err
    assert "is o1 of" in said.out
    assert oltp("report", "bbbb", "--lab", str(tmp_path / "mine.db")).out.startswith("✓ Valid: 200/s")
    assert tare("lab", "export", "--lab", str(lab), "--parquet", str(tmp_path / "none")).code == 2
