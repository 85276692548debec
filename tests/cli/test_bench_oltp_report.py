"""`tare report`, `compare` and `lab list` of transactional runs: from a lab to what a reader gets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tare.lab.oltp import record
from tare.lab.store import open_lab
from tare.report.oltp.comparison import Comparison
from tare.report.oltp.document import OltpReport
from tare.report.oltp.groups import GroupComparison
from tests.cli.running import tare
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


def test_a_report_is_written_in_every_form(lab: Path, tmp_path: Path) -> None:
    html, markdown, as_json = (tmp_path / name for name in ("o.html", "o.md", "o.json"))
    said = tare(
        "report", "o1", "--lab", str(lab), "--html", str(html), "--markdown", str(markdown), "--json",
        str(as_json), "--title", "T",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("✓ Valid: 200/s were asked for")
    assert "new_order" not in said.out
    assert all(f"{name}: {file}" in said.out for name, file in (("html", html), ("markdown", markdown)))
    assert html.stat().st_size < 1_500_000
    assert "<h1>T</h1>" in html.read_text()
    assert markdown.read_text().startswith("# T\n")
    assert OltpReport.model_validate_json(as_json.read_text()).all.counts.offered == 6000


def test_without_a_file_the_findings_are_printed(lab: Path) -> None:
    said = tare("report", "6f0a4b1e", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.startswith("✓ Valid: 200/s were asked for and 199.9/s were completed")
    assert "new_order" in said.out
    assert max(map(len, said.out.splitlines())) <= 100


def test_an_invalid_run_is_reported_as_one(lab: Path) -> None:
    said = tare("report", "o3", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.startswith("✗ This run is not valid: rate 97.1/s where 120/s were asked")


def test_runs_are_listed_with_what_was_held(lab: Path) -> None:
    said = tare("lab", "list", "--lab", str(lab))
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[1].split()[:4] == ["o1", "tpcc", "4", "postgresql"]
    assert all(len(line) <= 100 for line in lines)
    assert [line.split()[0] for line in lines if " valid " in line] == ["o1", "o2"]
    assert [line.split()[0] for line in lines if " INVALID " in line] == ["o3"]


def test_runs_are_listed_as_json(lab: Path) -> None:
    said = tare("lab", "list", "--lab", str(lab), "--json")
    assert [one["valid"] for one in said.result["runs"]] == [True, True, False]
    assert said.result["runs"][0]["intended_rate"] == 200


def test_a_slower_run_is_found_to_be_slower(lab: Path) -> None:
    said = tare("compare", "o2", "o1", "--lab", str(lab), "--json", "-")
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
    said = tare("compare", "o2", "o1", "--lab", str(lab))
    assert said.code == 0, said.err
    assert "times lower in B" in said.out
    assert "cannot be compared" not in said.out
    assert (
        '<div class="verdict-box rely">Response time'
        in tare("compare", "o2", "o1", "--lab", str(lab), "--html", "-").out
    )
    assert tare("compare", "o2", "o1", "--lab", str(lab), "--markdown", "-").out.startswith("# o2 over o1\n")


def test_what_keeps_runs_from_being_compared_comes_first_and_no_ratio_without_an_interval(lab: Path) -> None:
    said = tare("compare", "o1", "o3", "--lab", str(lab))
    assert said.code == 0, said.err
    assert said.out.find("cannot be compared") < said.out.find("A / B")
    assert "run B is not valid" in said.out
    assert "phases: 200/s for 30 s in A, 120/s for 8 s in B" in said.out
    table = said.out[said.out.find("A / B") :].splitlines()
    assert "[" not in "".join(table[: len(table) // 2][:10])


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two versions in turns, the second one slower; each waits for other numbers of round trips."""
    where = tmp_path_factory.mktemp("groups") / "lab.db"
    with open_lab(str(where), create=True) as opened:
        for number in range(6):
            is_second = number % 2
            run = sample.run(
                uuid=f"{number:032x}", seed=number, rates=(200.0,), seconds=12, stall=None,
                slower=1.5 if is_second else 1.0,
            )  # fmt: skip
            server = replace(run.server, version="17.4" if is_second else "18.1")
            trips = (run.outcome.round_trips or 0) * (2 if is_second else 1)
            outcome = run.outcome.model_copy(update={"round_trips": trips})
            record(opened, replace(run, server=server, outcome=outcome))
    return where


def test_many_runs_are_grouped_by_their_settings_and_a_run_is_one_sample(groups: Path) -> None:
    said = tare("compare", *(f"o{n}" for n in range(1, 7)), "--lab", str(groups), "--json", "-")
    assert said.code == 0, said.err
    found = GroupComparison.model_validate_json(said.out)
    assert [(group.label, group.runs) for group in found.groups] == [("A", [1, 3, 5]), ("B", [2, 4, 6])]
    assert found.differences == {"version": ["18.1", "17.4"]}
    assert found.objections == []
    assert "different numbers of round trips" in found.notes[0]
    mean = next(
        one for one in found.ratios if (one.type, one.times, one.figure) == ("all", "response", "mean")
    )
    assert mean.established
    assert mean.ratio is not None
    assert mean.ratio.value == pytest.approx(1 / 1.5, rel=0.1)


def test_groups_read_in_every_form(groups: Path) -> None:
    runs = [f"o{n}" for n in range(1, 7)]
    said = tare("compare", *runs, "--lab", str(groups))
    assert said.code == 0, said.err
    assert "times lower in A" in said.out
    assert "three runs (o1, o3, o5)" in " ".join(said.out.split())
    assert "Note: a transaction waits for different numbers of round trips" in " ".join(said.out.split())
    assert "A over B" in tare("compare", *runs, "--lab", str(groups), "--markdown", "-").out
    assert "verdict-box rely" in tare("compare", *runs, "--lab", str(groups), "--html", "-").out


def test_runs_that_make_one_group_and_a_run_named_twice_are_refused(groups: Path) -> None:
    said = tare("compare", "o1", "o3", "o5", "--lab", str(groups))
    assert said.code == 2
    assert "have equal settings" in said.err
    assert "o1 o3" in said.err
    said = tare("compare", "o1", "o2", "o1", "--lab", str(groups))
    assert said.code == 2
    assert "o1 is named twice" in said.err


def test_two_runs_that_wait_for_other_numbers_of_round_trips_are_compared_with_a_note(groups: Path) -> None:
    said = tare("compare", "o1", "o2", "--lab", str(groups))
    assert said.code == 0, said.err
    assert "round trips (20.0 in A, 40.0 in B)" in " ".join(said.out.split())


def test_a_run_that_is_not_there_is_told_with_what_to_do(lab: Path, tmp_path: Path) -> None:
    said = tare("report", "o9", "--lab", str(lab))
    assert said.code == 2
    assert "no transactional run 'o9'" in said.err
    assert "tare lab list" in said.err
    assert tare("compare", "o1", "o9", "--lab", str(lab)).code == 2
    assert tare("report", "o1", "--lab", str(tmp_path / "no.db")).code == 1
    assert tare("report", "o1", "--lab", str(lab), "--html", str(tmp_path / "no" / "o.html")).code == 2


def test_an_empty_lab_says_so(tmp_path: Path) -> None:
    open_lab(str(tmp_path / "lab.db"), create=True).close()
    said = tare("lab", "list", "--lab", str(tmp_path / "lab.db"))
    assert (said.code, "no runs" in said.out) == (0, True)
    assert json.loads(tare("lab", "list", "--lab", str(tmp_path / "lab.db"), "--json").out)["runs"] == []


def test_a_run_goes_from_one_lab_to_another(lab: Path, tmp_path: Path) -> None:
    said = tare("lab", "export", "o2", "--lab", str(lab), "--parquet", str(tmp_path / "export"))
    assert said.code == 0, said.err
    assert "1 transactional run" in said.out
    said = tare("lab", "import", str(tmp_path / "export"), "--lab", str(tmp_path / "mine.db"))
    assert said.code == 0, said.err
    assert "is run o1 of" in said.out
    assert tare("report", "bbbb", "--lab", str(tmp_path / "mine.db")).out.startswith("✓ Valid: 200/s")
    assert tare("lab", "export", "--lab", str(lab), "--parquet", str(tmp_path / "none")).code == 2
