"""Ids of runs: `report`, `compare` and `lab list` take every kind, and refuse what does not fit with what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.lab.profiles import create
from tare.lab.run_ids import Kind, RunId, hint, matching, parse
from tare.lab.store import open_lab
from tests.cli.running import tare
from tests.unit.lab.filling import whole_run

KNOWN = [(1, "3f9a0000-aaaa"), (12, "e1230000-bbbb")]


@pytest.mark.parametrize(("text", "shown"), [("e3", "e3"), (" O12 ", "o12"), ("p7", "p7")])
def test_an_id_is_a_letter_and_a_number(text: str, shown: str) -> None:
    assert str(parse(text)) == shown


@pytest.mark.parametrize("text", ["", "e", "3", "x3", "e0", "e03", "e1.5", "e3f9", "e" + "9" * 30])
def test_what_is_no_id_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("e1", [1]),
        ("3f9a", [1]),
        ("e123", [12]),
        ("e12", [12]),
        ("o1", []),
        ("3f9", []),
        ("1", []),
        ("e2", []),
    ],
)
def test_a_run_is_found_by_id_or_by_four_characters_of_its_uuid(text: str, numbers: list[int]) -> None:
    assert matching(text, Kind.EXPERIMENT, KNOWN) == numbers


def test_the_next_step_after_another_id_says_what_to_write() -> None:
    assert hint("7", Kind.OLTP).endswith("o7")
    assert "ids of a profile begin with p" in hint("e7", Kind.PROFILE)
    assert "tare lab list" in hint("e7", Kind.EXPERIMENT)
    assert RunId(Kind.OLTP, 7) == parse("o7")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("ids") / "lab.db")
    with open_lab(where, create=True) as opened:
        whole_run(opened)
    return where


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "e1", "o1"], ["runs of different kinds: e1 (experiment), o1 (transactional run)"]),
        (["report", "o1", "o2"], ["a transactional run is reported alone", "tare compare o1 o2"]),
        (["report", "o1", "--protocol", "exact"], ["--protocol does not apply to a transactional run"]),
        (["report", "p1", "--accept", "all"], ["--accept does not apply to a profile"]),
        (["report", "1"], ["no run '1'", "with the letter of its kind: e1"]),
        (["report", "p1"], ["no profile 'p1'"]),
        (["compare", "e1", "e1"], ["not compared in pairs", "tare report e1 e1"]),
        (["compare", "o1", "p1"], ["runs of different kinds"]),
        (["compare", "o1", "o2", "--runs", "5"], ["--runs does not apply to recorded runs"]),
        (["compare", "p1", "p2", "p3"], ["3 runs given, but a comparison needs two"]),
        (
            ["compare", "SELECT 1", "SELECT 2", "--title", "T"],
            ["--title does not apply to two queries or results"],
        ),
        (["compare", "SELECT 1", "SELECT 2"], ["no database is given", "--db URL"]),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write(
    words: list[str], said: list[str], lab: str, tmp_path: Path
) -> None:
    places = () if "SELECT 1" in words else ("--lab", lab, "--profiles", str(tmp_path / "profiles"))
    found = tare(*words, *places)
    assert found.code == 2, found.err
    for text in said:
        assert text in found.err


def test_the_list_has_every_kind(lab: str, tmp_path: Path) -> None:
    from tests.unit.lab.test_profiles import about

    create(about(), tmp_path)
    found = tare("lab", "list", "--lab", lab, "--profiles", str(tmp_path), "--json").result["runs"]
    assert {run["run"]: run["kind"] for run in found} == {"e1": "experiment", "p1": "profile"}
    shown = tare("lab", "list", "--lab", lab, "--profiles", str(tmp_path), COLUMNS="60")
    assert {line.split()[0].strip(",") for line in shown.out.splitlines()} >= {"e1", "p1"}
    assert all(len(line) <= 60 for line in shown.out.splitlines())


def test_a_list_of_profiles_needs_no_lab(tmp_path: Path) -> None:
    from tests.unit.lab.test_profiles import about

    create(about(), tmp_path)
    none = str(tmp_path / "none.db")
    found = tare("lab", "list", "--lab", none, "--profiles", str(tmp_path))
    assert (found.code, "p1" in found.out) == (0, True)
    assert tare("lab", "list", "--lab", none, "--profiles", str(tmp_path / "none")).code == 1
