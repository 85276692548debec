"""`tare report` from a lab to files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tare.report.experiment.document import Report
from tests.cli.running import Said, tare
from tests.unit.report.experiment.sample_lab import make_lab

ACCEPT = ("--accept", "missing queries")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab(tmp_path_factory.mktemp("lab") / "lab.db")


def report(lab: Path, *words: str) -> Said:
    return tare("report", "1", "2", "--lab", str(lab), *words, timeout=300)


@dataclass(frozen=True)
class Written:
    said: Said
    html: Path
    markdown: Path
    json: str


@pytest.fixture(scope="module")
def written(lab: Path) -> Written:
    html, markdown, as_json = (lab.parent / name for name in ("r.html", "r.md", "r.json"))
    files = ("--html", str(html), "--markdown", str(markdown), "--json", str(as_json))
    said = report(lab, *files, "--title", "T", *ACCEPT)
    assert said.code == 0, said.err
    return Written(said, html, markdown, as_json.read_text())


def test_one_call_writes_html_markdown_and_json_that_agree(written: Written) -> None:
    assert (written.said.out, written.said.err) == ("", "")
    found = Report.model_validate_json(written.json)
    assert found.title == "T"
    assert found.primary == "ttp2"
    assert {one.protocol: one.stopped for one in found.protocols} == {
        "ttp1": None,
        "ttp2": None,
        "exact": None,
    }
    assert len(found.times) == 44
    assert {one.model for one in found.models} == {"ttp1", "ttp2"}
    ttp2 = found.protocol("ttp2")
    assert ttp2 is not None
    assert "violations of the check “missing queries” were accepted" in ttp2.statement.paragraphs[0]
    assert "44 Q@Cs were dropped" in ttp2.statement.paragraphs[1]
    assert written.html.stat().st_size < 1_500_000
    assert "<h1>T</h1>" in written.html.read_text()
    assert written.markdown.read_text().startswith("# T\n")


def test_a_violated_experiment_wide_check_is_told_with_what_to_do_and_reported_all_the_same(
    lab: Path,
) -> None:
    said = report(lab, "--json", "-")
    assert said.code == 0, said.err
    assert (
        "TTPv2 was stopped: experiment-wide sanity checks are violated: missing queries: 20 of 460"
        in said.err
    )
    assert "--accept" in said.err
    assert "Traceback" not in said.err
    assert all(one["stopped"] and not one["remaining"] for one in json.loads(said.out)["protocols"])


def test_all_checks_are_accepted_at_once(lab: Path, written: Written) -> None:
    said = report(lab, "--json", "-", "--accept", "all")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out)["times"] == json.loads(written.json)["times"]
    assert json.loads(said.out)["times"]


def test_what_cannot_be_asked_is_refused_before_any_work(lab: Path, tmp_path: Path) -> None:
    for words, told in (
        (("--protocol", "ttp9"), "ttp9: not a protocol"),
        (("--html", "-", "--json", "-"), "only one of --html, --markdown, --json"),
        (("--html", str(tmp_path / "no" / "r.html")), "mkdir -p"),
        (("--accept", "bad weather"), "missing queries"),
    ):
        said = report(lab, *words)
        assert said.code == 2, said.err
        assert told in said.err
        assert "Traceback" not in said.err


def test_runs_and_labs_that_are_not_there(lab: Path, tmp_path: Path) -> None:
    missing = tare("report", "9", "--lab", str(lab))
    assert (missing.code, "no run '9'" in missing.err) == (2, True), missing.err
    no_lab = tare("report", "1", "--lab", str(tmp_path / "none.db"))
    assert (no_lab.code, "there is no lab" in no_lab.err) == (1, True), no_lab.err
