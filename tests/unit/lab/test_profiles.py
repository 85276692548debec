"""A profile's folder: found by path and name, whole or not there, and its tables made anew at will."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tare.errors import NoSuchProfile, ProfileDamaged, ProfileTooNew, UsageError
from tare.lab.profile_about import ABOUT, VERSION, About, Named, State
from tare.lab.profile_tables import FOLDER
from tare.lab.profiles import Run, create, names_in, open_run, runs_in, usual_name
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.overhead import turns
from tests.unit.probe.profile_recordings import ENTER, EXIT, record, written
from tests.unit.protocol.profile.made import numbers, tables

OWN = {"run": [1, 2, 3, 4, 5, 6], "run/lock": [9, 1, 9, 1, 9, 1]}
WINDOWS = [
    {
        "number": 0,
        "begin_ns": 0,
        "end_ns": 10**9,
        "purpose": "counting",
        "round": 1,
        "functions": [],
        "lost": 0,
    },
    {
        "number": 1,
        "begin_ns": 10**9,
        "end_ns": 2 * 10**9,
        "purpose": "probed",
        "round": 1,
        "functions": [1, 2],
        "lost": 0,
    },
    {
        "number": 2,
        "begin_ns": 2 * 10**9,
        "end_ns": 3 * 10**9,
        "purpose": "markers",
        "round": 2,
        "functions": [],
        "lost": 0,
    },
    {
        "number": 3,
        "begin_ns": 3 * 10**9,
        "end_ns": 4 * 10**9,
        "purpose": "probed",
        "round": 2,
        "functions": [1, 2],
        "lost": 0,
    },
]


@dataclass
class Made:
    """Stand-in for `tare._probe.Assembled`."""

    transactions: Any
    paths: Any
    cells: Any
    windows: str = json.dumps(WINDOWS)
    texts: dict[int, str] = field(default_factory=lambda: {7: "SELECT 1"})
    records: int = 24
    lost: int = 0
    unwound: int = 0
    unrecorded: int = 0
    cut_off: str | None = None


@dataclass
class Assembler:
    """Stands in for the Rust core, whose own tests make recordings: here it matters when it is asked."""

    asked: list[str] = field(default_factory=list)
    fails: bool = False

    def __call__(self, path: str, rules: str) -> Made:
        self.asked.append(rules)
        if self.fails:
            raise RuntimeError("the recording is damaged")
        windows = [0, 1, 1, 2, 3, 3]
        begin = [10**9 * window + 100 * place for place, window in enumerate(windows)]
        return Made(*tables(OWN, window=windows, begin=begin, labels=[7] * 6))


def about(name: str = "postgresql-20261122-101500", **more: Any) -> About:
    functions = tuple(Named(id=number, name=one, height=3 - number) for one, number in numbers(OWN).items())
    return About(
        **{
            "tare": "0.1.0",
            "name": name,
            "when": "2026-11-22T10:15:00+00:00",
            "rules": {"rule": "function", "root": 1},
            "functions": functions,
            "call_graph_height": 5,
            **more,
        }
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    found = create(about(), tmp_path)
    found.recording.write_bytes(b"frames")
    return found


def test_a_run_is_named_by_what_it_watched_and_when() -> None:
    assert (
        usual_name("postgresql", datetime(2026, 11, 22, 10, 15, tzinfo=UTC)) == "postgresql-20261122-101500"
    )


def test_a_run_comes_back_as_it_was_written_by_path_and_by_name(run: Run, tmp_path: Path) -> None:
    assert open_run(str(run.folder)).about == run.about
    assert open_run(run.name, tmp_path) == run
    saved = run.save(
        run.about.model_copy(update={"state": State.COMPLETE, "calls": {1: 2.5}, "pair_ns": 51.0})
    )
    assert open_run(run.name, tmp_path).about == saved.about


def test_no_password_gets_into_the_folder(tmp_path: Path) -> None:
    secret = about(
        command=("tare", "profile", "attach", "--db", "postgresql://me:hunter2@h/db"),
        server="mariadb://me:hunter2@h/db",
    )
    folder = create(secret, tmp_path).folder
    assert "hunter2" not in (folder / ABOUT).read_text()
    assert "postgresql://me@h/db" in (folder / ABOUT).read_text()


def test_an_unknown_name_brings_near_ones(run: Run, tmp_path: Path) -> None:
    with pytest.raises(NoSuchProfile) as refusal:
        open_run("postgresql-20261122-101501", tmp_path)
    assert f"did you mean {run.name}?" in refusal.value.next_step
    with pytest.raises(NoSuchProfile) as empty:
        open_run("x", tmp_path / "none")
    assert "tare profile attach" in empty.value.next_step


def test_a_name_that_is_taken_is_refused_if_it_was_chosen_and_else_numbered(run: Run, tmp_path: Path) -> None:
    assert create(about(), tmp_path).name == f"{run.name}-2"
    assert create(about(), tmp_path).folder.name == f"{run.name}-3"
    with pytest.raises(UsageError, match="already there"):
        create(about(), tmp_path, chosen=True)
    for name in ("", "a/b", "..", ".hidden"):
        with pytest.raises(UsageError, match="no name"):
            create(about(name), tmp_path)


def test_a_folder_of_a_newer_tare_says_so(run: Run) -> None:
    said = json.loads((run.folder / ABOUT).read_text())
    (run.folder / ABOUT).write_text(json.dumps({**said, "version": VERSION + 1, "tare": "9.0", "new": 1}))
    with pytest.raises(ProfileTooNew, match=r"of a later Tare \(9.0\)"):
        open_run(str(run.folder))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "does not say that its format"),
        ('{"format": "tare profile", "version": 1}', "damaged: tare: Field required"),
    ],
)
def test_a_damaged_about_is_told_with_its_place(run: Run, text: str, said: str) -> None:
    (run.folder / ABOUT).write_text(text)
    with pytest.raises(ProfileDamaged, match=said):
        open_run(str(run.folder))


def test_a_recording_that_ended_before_it_said_what_it_is_is_told(run: Run) -> None:
    (run.folder / ABOUT).unlink()
    with pytest.raises(ProfileDamaged, match="ended before it said"):
        open_run(str(run.folder))


def test_all_runs_are_listed_the_newest_first_and_a_damaged_one_as_it_is(run: Run, tmp_path: Path) -> None:
    newer = create(about("later", when="2026-11-23T09:00:00+00:00"), tmp_path)
    broken = create(about("broken"), tmp_path)
    (broken.folder / ABOUT).write_text("{")
    (tmp_path / "no-profile").mkdir()
    found = runs_in(tmp_path)
    assert [one.name if isinstance(one, Run) else type(one) for one in found] == [
        newer.name,
        run.name,
        ProfileDamaged,
    ]
    assert names_in(tmp_path) == ["broken", "later", run.name]


# Tables ----------------------------------------------------------------------------------------
def test_tables_are_made_once_and_read_from_then_on(run: Run) -> None:
    assemble = Assembler()
    first, second = run.tables(assemble), run.tables(assemble)
    assert assemble.asked == [json.dumps(run.about.rules)]
    assert first.cells == second.cells
    assert first.transactions.schema == second.transactions.schema
    assert (second.texts, second.records, second.windows) == ({7: "SELECT 1"}, 24, first.windows)


def test_tables_are_made_anew_where_they_are_missing_damaged_or_of_something_else(run: Run) -> None:
    assemble = Assembler()
    wanted = run.tables(assemble)
    shutil.rmtree(run.folder / FOLDER)
    assert run.tables(assemble).cells == wanted.cells
    (run.folder / FOLDER / "cells.parquet").write_bytes(b"PAR1")
    assert run.tables(assemble).cells == wanted.cells
    run.recording.write_bytes(b"more frames")
    assert run.tables(assemble).cells == wanted.cells
    other = run.save(run.about.model_copy(update={"rules": {"rule": "annotation"}}))
    assert other.tables(assemble).cells == wanted.cells
    assert len(assemble.asked) == 5


def test_nothing_half_written_is_left_when_it_cannot_be_made(run: Run) -> None:
    with pytest.raises(RuntimeError):
        run.tables(Assembler(fails=True))
    assert sorted(one.name for one in run.folder.iterdir()) == [ABOUT, run.recording.name]


def test_a_run_without_its_recording_says_so(run: Run) -> None:
    run.recording.unlink()
    with pytest.raises(ProfileDamaged, match=r"recording.*cannot be read"):
        run.tables(Assembler())


# What the analysis gets --------------------------------------------------------------------------
def test_the_last_probed_round_is_analysed_unless_another_is_asked_for(run: Run) -> None:
    found = run.tables(Assembler())
    last, first = run.measured(tables=found), run.measured(round_=1, tables=found)
    assert last.duration_ns.tolist() == [14, 7]
    assert first.duration_ns.tolist() == [3, 12]
    assert run.measured(purpose="markers", tables=found).duration_ns.tolist() == [5]
    with pytest.raises(NoSuchProfile) as refusal:
        run.measured(round_=9, tables=found)
    assert refusal.value.what == f"the profile {run.name} has no round 9; its rounds are 1, 2"
    assert refusal.value.next_step == "give --round 2, or leave --round out for the last one"


@pytest.mark.parametrize("round_", [None, 1])
def test_a_profile_that_ended_before_its_first_round_says_so(run: Run, round_: int | None) -> None:
    found = replace(run.tables(Assembler()), windows=())
    with pytest.raises(NoSuchProfile) as refusal:
        run.measured(round_=round_, tables=found)
    assert "has no round: it ended before a function was timed" in refusal.value.what
    assert "--duration" in refusal.value.next_step


def test_names_and_heights_come_from_the_folder(run: Run) -> None:
    findings = analyse(run.measured(tables=run.tables(Assembler())), replicates=5)
    assert [(one.name, one.height) for one in findings.nodes] == [
        ("transaction", None),
        ("run", 2),
        ("lock", 1),
    ]
    assert findings.call_graph_height == 5
    assert findings.kinds[0].name == "SELECT 1"


def test_turns_are_those_of_the_probed_round(run: Run) -> None:
    tables = run.tables(Assembler())
    found = turns(tables.transactions, run.windows(tables))
    assert [(one.probed, one.transactions) for one in found] == [(False, 1), (True, 2)]


def test_a_recording_of_the_core_becomes_tables_on_disk_and_findings(tmp_path: Path) -> None:
    """40 transactions of 10 ticks, every fourth of them with 40 more in a call; a tick is half a ns."""
    records = []
    for number in range(40):
        begin, long = 200 * number, 40 if number % 4 == 0 else 0
        records += [record(begin, ENTER, 1, 101), record(begin + 4, ENTER, 2, 102)]
        records += [record(begin + 6 + long, EXIT, 2), record(begin + 10 + long, EXIT, 1)]
    run = create(about(), tmp_path)
    written(run.recording, {20: records})
    first = run.measured()
    again = open_run(run.name, tmp_path).measured()  # from Parquet
    assert first.duration_ns.tolist() == again.duration_ns.tolist() == ([25, 5, 5, 5] * 10)
    findings = analyse(again, replicates=50)
    assert {one.residue for one in findings.nodes} == {0.0}
    assert findings.factors[0].names == ("lock",)
    assert findings.factors[0].share.value == pytest.approx(1)
    assert again.windows[0].functions == (1, 2)
