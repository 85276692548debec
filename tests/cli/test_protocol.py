"""`tare protocol` on a lab of two DBMSes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.cli.running import tare
from tests.unit.report.experiment.sample_lab import make_lab

ACCEPTED = ("--accept", "missing queries")  # the sample lab misses some


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_lab(tmp_path_factory.mktemp("lab") / "lab.db", qes=7))


def test_the_steps_are_shown_in_eighty_columns(lab: str) -> None:
    said = tare("protocol", "1", "2", "--lab", lab, *ACCEPTED, COLUMNS="80")
    assert said.code == 0, said.err
    for expected in ("ephemeral process", "after step 3-(iv)", "non-varying model measures", "time, ms"):
        assert expected in said.out
    assert max(map(len, said.out.splitlines())) <= 80


def test_all_protocols_stand_side_by_side(lab: str, tmp_path: Path) -> None:
    times, why = tmp_path / "times.csv", tmp_path / "why.parquet"
    said = tare(
        "protocol", "1", "2", "--lab", lab, "--protocol", "all", "--accept", "all", "--fewer",
        "--times", str(times), "--exclusions", str(why),
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "side by side" in said.out
    assert "relative error, calculated" in said.out
    with times.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["protocol"] for row in rows} == {"ttp1", "ttp2", "exact"}
    excluded = parquet.read_table(why)
    assert {"protocol", "rule", "evidence", "source"} <= set(excluded.column_names)
    assert len(excluded) > 0


def test_files_have_what_the_terminal_shows(lab: str, tmp_path: Path) -> None:
    page, words = tmp_path / "protocol.html", tmp_path / "protocol.md"
    said = tare("protocol", "1", "--lab", lab, *ACCEPTED, "--html", str(page), "--markdown", str(words))
    assert (said.code, said.out) == (0, ""), said.err
    for file in (page, words):
        for expected in (
            "Tucson Timing Protocol, version 2",
            "ephemeral process",
            "time, ms",
            "run e1 of lab.db",
        ):
            assert expected in file.read_text(encoding="utf-8")


def test_json_is_all_that_is_printed(lab: str) -> None:
    said = tare("protocol", "1", "--lab", lab, *ACCEPTED, "--protocol", "exact", "--json")
    assert said.code == 0, said.err
    (outcome,) = said.result["protocols"]
    assert outcome["protocol"] == "exact"
    assert {row["run_id"] for row in outcome["times"]} == {1}
    assert outcome["remaining"][0]["qatcs"] == len(outcome["times"])


def test_a_violated_experiment_wide_check_stops_and_says_how_to_go_on(lab: str) -> None:
    said = tare("protocol", "1", "2", "--lab", lab, "--json")
    assert said.code == 1
    assert "missing queries" in said.err
    assert "--accept CHECK" in said.err
    assert said.result["protocols"][0]["times"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("1", "--protocol", "ttp3"), "give one of ttp1, ttp2, exact"),
        (("7",), "has no run '7'"),
        (("1", "--accept", "steel time"), "no experiment-wide check has that name"),
        (("1", "--times", "times.txt"), "name it .csv or .parquet"),
        (("1", "--times", "/nowhere/times.csv"), "mkdir -p"),
    ],
)
def test_bad_requests_are_told_apart(lab: str, words: tuple[str, ...], told: str) -> None:
    said = tare("protocol", *words, "--lab", lab)
    assert said.code == 2, said.err
    assert told in said.err
    assert "Traceback" not in said.err
