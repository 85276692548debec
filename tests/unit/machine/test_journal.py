"""The undo journal: what is written is read, and the living are told from the dead."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tare.measure.machine.doctor import Status, crashed
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.machine.leftovers import leftovers, restore
from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.journal import Journal, runs
from tare.measure.machine.putback.lock import locked
from tare.measure.machine.putback.steps import (
    FAILED,
    GONE,
    PUT_BACK,
    Affinity,
    Cgroup,
    Claim,
    Inherited,
    Moved,
    Step,
    Stopped,
    Sysctl,
    decode,
    encode,
)
from tare.measure.machine.settings import MachineSettings
from tests.unit.machine.naming import until_named

STEPS: list[Step] = [
    Sysctl("kernel.task_delayacct", "0", "1"),
    Claim("isolation"),
    Affinity(7, 123, (0, 1), (0,)),
    Inherited(99, ((0,), (1,)), (0, 1)),
    Stopped(7, 123, "a (strange) name"),
    Moved(7, 123, "/sys/fs/cgroup/a"),
    Cgroup("/sys/fs/cgroup/tare"),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_step_survives_the_journal(step: Step) -> None:
    assert decode(encode(step)) == step


def test_steps_are_read_in_the_order_they_were_made(tmp_path: Path) -> None:
    with locked(tmp_path):
        journal = Journal.create(tmp_path, "tare")
    for step in STEPS:
        journal.append(step)
    header, made = journal.read()
    journal.close()
    assert header is not None
    assert (header.pid, header.command) == (os.getpid(), "tare")
    assert made == STEPS


def test_a_withdrawn_step_is_forgotten(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "tare")
    journal.append(STEPS[0])
    journal.withdraw(journal.append(STEPS[1]))
    assert journal.read()[1] == STEPS[:1]
    journal.close()


def test_a_run_is_alive_while_its_journal_is_open(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "tare")
    assert [run.alive for run in runs(tmp_path)] == [True]
    journal.close()
    assert [run.alive for run in runs(tmp_path)] == [False]


def test_a_pid_that_was_given_to_another_process_is_not_touched() -> None:
    sleeper = subprocess.Popen(["sleep", "30"])
    try:
        began = tasks.start(sleeper.pid)
        assert began is not None
        before = os.sched_getaffinity(sleeper.pid)
        assert Affinity(sleeper.pid, began - 1, (max(before),), tuple(before)).undo().how == GONE
        assert Stopped(sleeper.pid, began - 1, "sleep").undo().how == GONE
        assert os.sched_getaffinity(sleeper.pid) == before
    finally:
        sleeper.kill()
        sleeper.wait()


def test_names_with_spaces_and_parentheses_do_not_shift_the_fields(tmp_path: Path) -> None:
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/sleep")
    sleeper = subprocess.Popen([str(program), "30"])
    try:
        until_named(sleeper.pid, "a) b (c")
        assert tasks.parent(sleeper.pid) == os.getpid()
        assert not tasks.is_kernel(sleeper.pid)
    finally:
        sleeper.kill()
        sleeper.wait()


HEADER = {"pid": 7, "command": "tare", "boot_id": tasks.boot_id(), "since": "a later version"}
STRANGE = {
    "an unknown kind": [HEADER, {"kind": "frequency", "cpu": 0, "old": "powersave"}],
    "a known kind with other fields": [HEADER, {"kind": "sysctl", "path": "/proc/sys/kernel/x"}],
    "a step without a kind": [HEADER, {}],
    "a step that is no record": [HEADER, [1, 2]],
    "a header with less": [{"version": 9}, {"kind": "claim", "name": "isolation"}],
}


@pytest.mark.parametrize("records", STRANGE.values(), ids=STRANGE.keys())
def test_a_journal_of_another_version_is_named_and_kept(
    records: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.measure.machine.leftovers.journal_directory", lambda: tmp_path)
    path = tmp_path / "run-7-x.journal"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    (left,) = leftovers()
    assert not left.readable
    found = crashed.left_over(Surroundings())
    assert found.status is Status.PROBLEM
    assert str(path) in found.observed
    assert str(path) in found.next_step
    failed = [undone for undone in restore() if undone.how == FAILED]
    assert len(failed) == 1
    assert str(path) in failed[0].detail
    assert path.exists()


def test_a_journal_that_is_no_text_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "run-7-x.journal"
    path.write_bytes(b"\xff\xfe\x00\n{]\n")
    (left,) = leftovers(tmp_path)
    assert not left.readable
    assert {undone.how for undone in restore(tmp_path)} == {FAILED}
    assert path.exists()


def test_what_is_understood_of_another_versions_journal_is_put_back(tmp_path: Path) -> None:
    path = tmp_path / "run-7-x.journal"
    records = [HEADER, encode(Claim("isolation")), {"kind": "frequency"}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [undone.how for undone in restore(tmp_path)] == [FAILED, PUT_BACK]


def test_a_run_goes_on_beside_a_journal_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "run-7-x.journal"
    path.write_text(json.dumps(HEADER) + "\n" + json.dumps({"kind": "frequency"}) + "\n")
    with MachineSettings(tmp_path) as settings:
        settings.claim("isolation")
        assert [undone.how for undone in settings.close()] == [PUT_BACK]
    assert list(tmp_path.glob("run-*")) == [path]


def test_a_journal_without_even_a_header_is_of_a_run_that_changed_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run-7-x.journal"
    path.write_text(json.dumps(HEADER)[:20])
    assert leftovers(tmp_path) == []
    assert not path.exists()
