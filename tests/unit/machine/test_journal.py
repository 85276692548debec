"""The undo journal: what is written is read, and the living are told from the dead."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.journal import Journal, locked, runs
from tare.measure.machine.putback.steps import (
    GONE,
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
