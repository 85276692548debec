"""`tare model` on a lab of two DBMSes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import tare
from tests.unit.report.experiment.sample_lab import make_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_lab(tmp_path_factory.mktemp("lab") / "lab.db", qes=7))


def test_the_table_is_shown_pooled_and_for_each_dbms(lab: str) -> None:
    said = tare("model", "1", "2", "--lab", lab, COLUMNS="80")
    assert said.code == 0, said.err
    assert "TTPv2's causal model" in said.out
    assert "pooled over mariadb, postgresql, each scaled by itself" in said.out
    assert said.out.count("\nXIV") == 3
    assert max(map(len, said.out.splitlines())) <= 80


def test_files_have_what_the_terminal_shows(lab: str, tmp_path: Path) -> None:
    page, words = tmp_path / "model.html", tmp_path / "model.md"
    said = tare("model", "1", "2", "--lab", lab, "--html", str(page), "--markdown", str(words))
    assert (said.code, said.out) == (0, ""), said.err
    for file in (page, words):
        for expected in ("pooled over mariadb, postgresql", "runs e1, e2 of lab.db", "XIV"):
            assert expected in file.read_text(encoding="utf-8")


def test_json_is_all_that_is_printed(lab: str) -> None:
    said = tare("model", "1", "2", "--lab", lab, "--model", "ttp1", "--json")
    assert said.code == 0, said.err
    assert said.result["model"] == "ttp1"
    assert len(said.result["pooled"]["relationships"]) == 27
    assert list(said.result["by_dbms"]) == ["mariadb", "postgresql"]


def test_one_dbms_alone(lab: str) -> None:
    said = tare("model", "1", "2", "--lab", lab, "--dbms", "mariadb", "--json")
    assert said.result["dbmses"] == ["mariadb"]


def test_only_what_the_protocol_retains(lab: str) -> None:
    every = tare("model", "1", "2", "--lab", lab, "--json").result["qes"]
    said = tare("model", "1", "2", "--lab", lab, "--json", "--retained", *accepted())
    assert said.code == 0, said.err
    assert 0 < said.result["qes"] < every
    assert said.result["retained_by"] == "ttp2"


def accepted() -> tuple[str, ...]:
    """The sample lab misses queries, which stops an analysis unless it is accepted."""
    return ("--accept", "missing queries")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("1", "--model", "ttp3"), 2, "take one of ttp2, ttp1"),
        (("1", "2", "--dbms", "oracle"), 2, "leave --dbms out"),
        (("7",), 2, "has no run '7'"),
        (("1", "--accept", "steal time"), 2, "give --retained too"),
    ],
)
def test_a_wrong_request_says_what_to_do(lab: str, words: tuple[str, ...], code: int, told: str) -> None:
    said = tare("model", *words, "--lab", lab)
    assert said.code == code
    assert told in said.err
    assert "Traceback" not in said.err


def test_a_lab_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    said = tare("model", "1", "--lab", str(tmp_path / "none.db"))
    assert said.code == 1
    assert "there is no lab" in said.err
    assert not (tmp_path / "none.db").exists()


def test_standard_output_that_is_full_is_told(lab: str) -> None:
    import subprocess
    import sys

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tare", "model", "1", "--lab", lab, "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)  # fmt: skip
    assert done.returncode == 1
    assert "standard output could not be written" in done.stderr
