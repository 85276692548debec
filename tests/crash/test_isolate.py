"""`tare isolate` keeps its promise: the command alone on its CPU, and everybody back afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tare.measure.machine.putback.journal import runs
from tare.measure.machine.putback.lock import locked
from tare.measure.machine.settings import journal_directory

NAMESPACES = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount"]


def _why_not() -> str | None:
    if os.geteuid() != 0:
        return "moving other processes needs root"
    if len(os.sched_getaffinity(0)) < 2:
        return "nothing can be reserved on one CPU"
    if shutil.which("unshare") is None:
        return "needs unshare (util-linux)"
    tried = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


WHY_NOT = _why_not()
pytestmark = [pytest.mark.root, pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")]

LAST = max(os.sched_getaffinity(0))
EVERY = sorted(os.sched_getaffinity(0))
REST = EVERY[:-1]
BEFORE = {"free": EVERY, "pinned": [LAST]}


def play(scene: str) -> dict[str, Any]:
    script = Path(__file__).with_name("quiet_machine.py")
    done = subprocess.run(
        [*NAMESPACES, sys.executable, str(script), scene],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_the_command_has_its_cpu_to_itself_and_the_others_have_theirs_back() -> None:
    seen = play("a_run_to_its_end")
    assert seen["before"] == BEFORE
    assert seen["command"] == [LAST]
    assert seen["during"]["free"] == REST
    assert seen["after"] == BEFORE
    assert seen["exit"] == 7  # the command's own
    assert seen["journals"] == [1, 0]
    assert f"reserved CPU {LAST}" in seen["told"]
    assert "put back" in seen["told"]


def interrupts_by_cpu() -> dict[int, int]:
    """By hand, and the clock with them if it has a number: for where the answer is beyond doubt."""
    head, *rows = Path("/proc/interrupts").read_text().splitlines()
    cpus = [int(name.removeprefix("CPU")) for name in head.split()]
    counts = [row.split()[1 : 1 + len(cpus)] for row in rows if row.split()[0].rstrip(":").isdecimal()]
    return {cpu: sum(int(row[column]) for row in counts) for column, cpu in enumerate(cpus)}


def test_left_the_choice_it_reserves_the_cpu_that_devices_interrupt_least() -> None:
    taken = {cpu: count for cpu, count in interrupts_by_cpu().items() if cpu in EVERY}
    least, second = sorted(taken.values())[:2]
    if second - least < 0.2 * sum(taken.values()):
        pytest.skip(f"no CPU of this machine is spared by its devices: {taken}")
    seen = play("chosen")
    (cpu,) = seen["command"]
    assert taken[cpu] == least
    assert f"reserving CPU {cpu} (" in seen["told"]
    assert "% of device interrupts" in seen["told"]


def test_where_interrupts_are_hidden_it_reserves_the_last_cpu_and_says_so() -> None:
    seen = play("chosen_without_seeing_interrupts")
    assert seen["command"] == [LAST]
    assert f"reserving CPU {LAST} (device interrupts cannot be seen here)" in seen["told"]


@pytest.mark.parametrize(
    ("scene", "complaint"),
    [("an_absent_cpu", "CPU 99999 is not there"), ("cpu_and_cpus", "give one of them")],
)
def test_a_choice_that_cannot_be_met_is_a_usage_error(scene: str, complaint: str) -> None:
    seen = play(scene)
    assert seen["exit"] == 2
    assert complaint in seen["told"]


def test_without_cpusets_affinity_does_it() -> None:
    seen = play("without_cpusets")
    assert "by affinity" in seen["told"]
    assert seen["command"] == [LAST]
    assert seen["during"] == {"free": REST, "pinned": [LAST]}  # pinned by its owner: it can go nowhere else
    assert seen["after"] == BEFORE


def test_a_process_born_under_affinity_does_not_stay_narrow() -> None:
    assert play("born_meanwhile_by_affinity") == {"during": REST, "after": EVERY}


def test_killing_isolate_puts_everybody_back_within_a_second() -> None:
    seen = play("killed")
    assert seen["during"]["free"] == REST
    assert seen["after"] == BEFORE
    assert seen["seconds"] < 1.0


def test_killing_its_guardian_too_leaves_a_left_over_that_the_doctor_mends() -> None:
    seen = play("killed_with_its_guardian")
    assert seen["stays"]["free"] == REST
    assert len(seen["found"]) == 1
    assert set(seen["mended"]) == {"put back"}
    assert seen["after"] == BEFORE
    assert seen["left"] == 0


def test_a_running_server_and_its_children_are_taken_in_and_let_go() -> None:
    assert play("a_server_taken_in") == {"during": [[LAST], [LAST]], "after": [EVERY, EVERY]}


@pytest.mark.parametrize("scene", ["the_server_of_its_db", "the_server_of_tare_db"])
def test_the_server_that_its_command_connects_to_is_taken_in_with_its_children(scene: str) -> None:
    seen = play(scene)
    assert seen["during"] == [[LAST]]
    assert seen["processes"] > 1
    assert seen["after"] == EVERY
    assert "took in" in seen["told"]


def test_a_server_that_cannot_be_found_is_named_and_the_command_still_runs() -> None:
    seen = play("a_server_that_is_not_there")
    assert seen["exit"] == 7
    assert "the server of postgresql://u@127.0.0.1:1/db is not taken in" in seen["told"]
    assert "secret" not in seen["told"]


def test_periodic_daemons_are_held_and_others_never() -> None:
    assert play("daemons_held") == {"during": {"cron": "T", "sshd": "S"}, "after": {"cron": "S", "sshd": "S"}}


def test_a_signal_is_passed_on_to_the_command() -> None:
    assert play("a_signal_passed_on")["exit"] == 42


def test_a_command_killed_by_a_signal_gives_the_shells_exit_code() -> None:
    assert play("a_command_that_dies_by_a_signal")["exit"] == 128 + 9


def test_delay_accounting_is_on_for_the_command() -> None:
    knob = Path("/proc/sys/kernel/task_delayacct")
    if not knob.exists():
        pytest.skip("this kernel has no delay accounting")
    before = knob.read_text()
    assert play("delay_accounting_shared_with_all")["during"] == "1"
    with locked(journal_directory()):
        if any(run.alive for run in runs(journal_directory())):
            pytest.skip("another run holds machine settings: whether it is put back cannot be seen")
    assert knob.read_text() == before


def test_two_isolations_at_once_are_refused() -> None:
    seen = play("two_at_once")
    assert seen["exit"] == 1
    assert "held by another run" in seen["told"]
    assert seen["first"] == 7


@pytest.mark.skipif(
    not (Path("/usr/bin/python3").exists() and shutil.which("setpriv")),
    reason="needs the system's Python 3.11 and setpriv",
)
def test_an_ordinary_user_moves_its_own_processes_and_is_told_what_root_would_give() -> None:
    seen = play("as_an_ordinary_user")
    # The command saw on how many CPUs our own process and root's might run.
    assert seen["exit"] == 10 * len(REST) + len(EVERY)
    assert seen["own after"] == seen["own before"] == EVERY
    assert "run as root to move these too" in seen["told"]
    already_on = Path("/proc/sys/kernel/task_delayacct").read_text().strip() == "1"
    assert already_on or "delay accounting stays off" in seen["told"]
