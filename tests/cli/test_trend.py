"""`tare time --lab` records what it measured, and `tare trend` finds where it changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema

from tare.dbms.base import Server
from tare.lab.measurements import Measured, record, series
from tare.lab.store import open_lab
from tare.measure.environment import machine_facts
from tests.cli.running import tare

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "trend-v1.json").read_text())
QUERY = "SELECT count(*) FROM numbers"


def planted(lab: str, levels: list[float]) -> None:
    """A lab with a measurement of q1 for each level, ms."""
    with open_lab(lab, create=True) as opened:
        for number, level in enumerate(levels):
            samples = {"resources.cpu_ms": [level * (1 + part / 1000) for part in range(10)]}
            record(
                opened,
                [Measured("q1", "SELECT 1", samples)],
                server=Server("sqlite", "3.40", {}, "sqlite:///x", True),
                facts=machine_facts(),
                cache="warm",
                started_at="2026-11-27T10:00:00+00:00",
                code=f"{number:012x}",
            )


def test_measurements_are_recorded_with_their_commit(sqlite_url: str, tmp_path: Path) -> None:
    lab = str(tmp_path / "lab.db")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    words = ("time", QUERY, "--db", sqlite_url, "--runs", "6", "--lab", lab)
    assert tare(*words, "--commit", "abc").code == 0
    assert tare(*words).code == 0
    said = tare(*words, "--commit", "auto", GIT_DIR=str(tmp_path / ".git"))
    assert said.code == 0, said.err
    with open_lab(lab) as opened:
        (found,) = series(opened)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    assert [point.code for point in found.points] == ["abc", None, head]
    assert all(len(point.samples["wall_ms"]) == 6 for point in found.points)
    shown = tare("trend", "--lab", lab)
    assert shown.code == 0
    assert "No baseline yet: three measurements" in shown.out
    listed = tare("lab", "list", "--lab", lab)
    assert "tare trend" in listed.out


def test_a_slowdown_is_found_and_fails_a_gate(tmp_path: Path) -> None:
    lab = str(tmp_path / "lab.db")
    planted(lab, [100 + place % 3 for place in range(20)] + [115 + place % 3 for place in range(4)])
    page = tmp_path / "t.html"
    said = tare("trend", "q1", "--lab", lab, "--html", str(page), "--json", "-")
    assert said.code == 0, said.err
    jsonschema.validate(said.result, SCHEMA)
    assert [change["place"] for change in said.result["series"][0]["changes"]] == [20]
    assert "slower at commit 000000000014" in said.result["headline"]
    assert "q1 on SQLite" in page.read_text()
    assert tare("trend", "--lab", lab, "--fail-if", "slower=5%").code == 3
    assert tare("trend", "--lab", lab, "--fail-if", "slower=20%").code == 0
    assert tare("trend", "--lab", lab, "--fail-if", "slower=5%", "--last", "2").code == 0


def test_a_new_lab_and_no_lab_are_told_apart(sqlite_url: str, tmp_path: Path) -> None:
    said = tare("trend", "--lab", str(tmp_path / "none.db"))
    assert said.code == 1
    assert "there is no lab" in said.err
    lab = str(tmp_path / "lab.db")
    planted(lab, [])
    assert tare("trend", "--lab", lab, "--fail-if", "slower=5%").code == 0


def test_what_cannot_be_done_is_refused_before_any_work(sqlite_url: str, tmp_path: Path) -> None:
    lab = str(tmp_path / "lab.db")
    planted(lab, [1.0])
    for words, why in (
        (("trend", "q2", "--lab", lab), "holds no measurement of q2"),
        (("trend", "--lab", lab, "--measure", "sleep_ms"), "not a measure of a trend"),
        (("trend", "--lab", lab, "--fail-if", "plan"), "add --fail-if slower=5%"),
        (("time", QUERY, "--db", sqlite_url, "--commit", "abc"), "add --lab"),
        (("time", QUERY, "--db", sqlite_url, "--lab", str(tmp_path / "none" / "l.db")), "there is no folder"),
    ):
        said = tare(*words)
        assert said.code in (1, 2), said.err
        assert why in said.err
    said = tare("time", QUERY, "--db", sqlite_url, "--lab", lab, "--commit", "auto", GIT_DIR=str(tmp_path))
    assert said.code == 2
    assert "--commit auto" in said.err
