"""`tare lab`: what a user types and what comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from tare.lab.progress import progress, runs
from tare.lab.store import open_lab
from tests.cli.running import tare
from tests.unit.lab.filling import whole_run


@pytest.fixture
def lab(tmp_path: Path) -> str:
    """A lab of one run with six QEs."""
    where = str(tmp_path / "lab.db")
    with open_lab(where, create=True) as opened:
        whole_run(opened)
    return where


def test_list_shows_the_runs(lab: str) -> None:
    said = tare("lab", "list", "--lab", lab)
    assert said.code == 0, said.err
    assert said.out.splitlines()[1].split()[-3:] == ["2", "2", "6"]
    assert "small" in said.out
    found = tare("lab", "list", "--lab", lab, "--json").result["runs"]
    assert [(one["run"], one["state"], one["dbms"], one["qes"]) for one in found] == [
        (1, "done", "postgresql", 6)
    ]


def test_list_keeps_to_eighty_columns(lab: str) -> None:
    said = tare("lab", "list", "--lab", lab, COLUMNS="80")
    headings, run, *_ = said.out.splitlines()
    assert headings.split()[:4] == ["id", "uuid", "experiment", "DBMS"]
    assert run.split()[0] == "e1"
    assert max(map(len, said.out.splitlines())) <= 80


def test_the_lab_may_be_named_by_the_environment(lab: str) -> None:
    assert tare("lab", "list", "--json", TARE_LAB=lab).result["lab"] == lab


def test_a_run_goes_from_one_lab_to_another(lab: str, tmp_path: Path) -> None:
    folder, other = str(tmp_path / "export"), str(tmp_path / "other.db")
    out = tare("lab", "export", "1", "--parquet", folder, "--lab", lab)
    assert out.code == 0, out.err
    assert "6 QEs" in out.out
    came = tare("lab", "import", folder, "--lab", other)
    assert came.code == 0, came.err
    assert "is e1 of" in came.out
    again = tare("lab", "import", folder, "--lab", other, "--json")
    assert (again.result["runs"], len(again.result["skipped"])) == ({}, 1)
    with open_lab(lab) as one, open_lab(other) as two:
        assert progress(one, 1).run.uuid == progress(two, 1).run.uuid
        assert runs(two)[0].qes == 6


def test_a_run_is_named_by_the_beginning_of_its_id(lab: str, tmp_path: Path) -> None:
    with open_lab(lab) as opened:
        uuid = progress(opened, 1).run.uuid
    said = tare("lab", "export", uuid[:13], "--parquet", str(tmp_path / "export"), "--lab", lab, "--json")
    assert said.result["runs"] == [uuid]


def test_verify_agrees_with_what_was_recorded(lab: str) -> None:
    said = tare("lab", "verify", "1", "--lab", lab)
    assert said.code == 0, said.err
    assert "all agree" in said.out


def test_verify_names_what_was_changed(lab: str) -> None:
    with open_lab(lab) as opened, opened.writing() as connection:
        connection.execute(text("UPDATE qe SET wall_ns = 17 WHERE run_order = 3"))
    said = tare("lab", "verify", "1", "--lab", lab)
    assert said.code == 1
    assert "e1, QE 3: wall_ns is 17 in the lab and 57000000 by the readings" in said.out
    found = tare("lab", "verify", "1", "--lab", lab, "--json")
    assert found.code == 1
    assert found.result["first"][0]["stored"] == 17


def test_words_of_others_do_not_steer_the_terminal(lab: str) -> None:
    with open_lab(lab) as opened, opened.writing() as connection:
        connection.execute(text("UPDATE experiment SET name = :name"), {"name": "\x1b[31m[bold]red\x07"})
    said = tare("lab", "list", "--lab", lab)
    assert "\x1b" not in said.out
    assert "\x07" not in said.out
    assert "[bold]" in said.out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["list", "--lab", "{tmp}/none.db"], 1, "there is no lab"),
        (["list", "--lab", "{tmp}"], 1, "not a file"),
        (["list", "--lab", "mariadb://u:verysecret@h/d"], 2, "cannot be a lab"),
        (["verify", "9", "--lab", "{lab}"], 2, "no run"),
        (["export", "9", "--parquet", "{tmp}/e", "--lab", "{lab}"], 2, "no run"),
        (["export", "1", "--parquet", "{tmp}", "--lab", "{lab}"], 2, "not empty"),
        (["export", "1", "--parquet", "{tmp}/no/e", "--lab", "{lab}"], 2, "mkdir -p"),
        (["export", "1", "--parquet", "{lab}", "--lab", "{lab}"], 2, "no folder"),
        (["import", "{tmp}", "--lab", "{tmp}/new.db"], 2, "no export"),
        (["import", "{lab}", "--lab", "{tmp}/new.db"], 2, "lab.json"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_next_step(
    lab: str, tmp_path: Path, words: list[str], code: int, told: str
) -> None:
    said = tare("lab", *(word.format(tmp=tmp_path, lab=lab) for word in words))
    assert (said.code, said.out) == (code, "")
    assert told in said.err
    assert "next:" in said.err
    assert "Traceback" not in said.err
    assert "verysecret" not in said.err
    assert not (tmp_path / "new.db").exists()


def test_a_refused_import_leaves_no_new_lab(lab: str, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    tare("lab", "export", "1", "--parquet", str(folder), "--lab", lab)
    description = json.loads((folder / "lab.json").read_text())
    description["tables"]["qe"]["sha256"] = "0" * 64
    (folder / "lab.json").write_text(json.dumps(description))
    said = tare("lab", "import", str(folder), "--lab", str(tmp_path / "new.db"))
    assert (said.code, (tmp_path / "new.db").exists()) == (2, False)
    assert "qe.parquet" in said.err


@pytest.mark.parametrize("command", ["list", "export", "import", "verify"])
def test_help_names_the_exit_codes(command: str) -> None:
    said = tare("lab", command, "-h")
    assert said.code == 0
    assert "Exit code" in said.out
