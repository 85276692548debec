"""The doctor looks at the machine it is on: these tests change that machine and ask again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tare.measure.machine.daemons import PERIODIC
from tare.measure.machine.doctor import (
    Finding,
    Status,
    core,
    examine,
    neighbours,
    processor,
    rights,
)
from tare.measure.machine.doctor.examine import can_measure
from tare.measure.machine.doctor.surroundings import Surroundings
from tests.unit.machine.naming import until_named

pytest.importorskip("tare._probe", reason="the probe is not built")


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return examine(0.2)


def test_every_check_answers_under_a_name_of_its_own(findings: list[Finding]) -> None:
    names = [finding.name for finding in findings]
    assert len(names) == len(set(names)) > 20


def test_every_advice_and_problem_says_why_and_what_to_do(findings: list[Finding]) -> None:
    for finding in findings:
        assert finding.observed
        assert finding.why
        if finding.status in (Status.ADVICE, Status.PROBLEM):
            assert finding.next_step, finding


def test_something_can_be_measured_wherever_proc_is(findings: list[Finding]) -> None:
    assert can_measure(findings)


def test_a_guest_is_not_blamed_for_a_governor_it_cannot_have() -> None:
    around = Surroundings()
    if around.hypervisor is None:
        pytest.skip("this machine is not a guest")
    if any(Path("/sys/devices/system/cpu").glob("cpu*/cpufreq/scaling_governor")):
        pytest.skip("this guest has a governor")
    assert processor.governor(around).status is Status.NOT_APPLICABLE
    assert processor.turbo(around).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("chain", "wide", "status", "said"),
    [
        ([1000, 1010], [800, 810], Status.GOOD, "nobody comes and goes"),
        ([1000, 1010], [800, 1400], Status.ADVICE, "somebody comes and goes on its core"),
        ([1000, 1120], [800, 1400], Status.ADVICE, "somebody comes and goes on its core"),
        ([1000, 1500], [800, 1200], Status.ADVICE, "the clock rate changes"),
    ],
)
def test_who_uses_the_core_is_told_by_what_slows_down(
    chain: list[int], wide: list[int], status: Status, said: str
) -> None:
    found = core.judged(0, list(zip(chain, wide, strict=True)) * 20, "kvm")
    assert (found.status, said in found.observed) == (status, True), found
    if status is Status.ADVICE:
        assert "tare compare" in found.next_step


def test_the_core_is_tried_on_a_cpu_that_this_run_may_use() -> None:
    before = os.sched_getaffinity(0)
    last = max(before)
    os.sched_setaffinity(0, {last})
    try:
        found = core.own_core(Surroundings())
    finally:
        os.sched_setaffinity(0, before)
    assert f"on CPU {last} " in found.observed


def test_a_busy_neighbour_is_named_with_its_share() -> None:
    spinner = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        found = neighbours.other_processes(Surroundings(0.5))
    finally:
        spinner.kill()
        spinner.wait()
    assert found.status is Status.ADVICE
    assert f"({spinner.pid})" in found.observed


@pytest.mark.parametrize(("name", "check"), [("cron", neighbours.daemons), ("mysqld", neighbours.databases)])
def test_a_daemon_and_a_server_are_found_by_name(tmp_path: Path, name: str, check: object) -> None:
    shutil.copy("/bin/sleep", tmp_path / name)
    process = subprocess.Popen([str(tmp_path / name), "30"])
    try:
        until_named(process.pid, name)
        found = check(Surroundings())  # type: ignore[operator]
    finally:
        process.kill()
        process.wait()
    assert found.status is Status.ADVICE
    assert f"{name} ({process.pid})" in found.observed


def test_a_run_that_was_confined_is_told_so() -> None:
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("this run is confined to one CPU already")
    os.sched_setaffinity(0, {min(before)})
    try:
        found = rights.own_cpus(Surroundings())
    finally:
        os.sched_setaffinity(0, before)
    assert found.status in (Status.ADVICE, Status.PROBLEM)
    assert f"CPU {min(before)} of" in found.observed


def test_trying_the_rights_changes_nothing() -> None:
    knob = Path("/proc/sys/kernel/task_delayacct")
    if not knob.exists():
        pytest.skip("this kernel has no delay accounting")
    groups = set(Path("/sys/fs/cgroup").glob("**/tare-*"))
    before = knob.read_text()
    rights.delay_accounting(Surroundings())
    assert knob.read_text() == before
    rights.cpuset(Surroundings())
    assert set(Path("/sys/fs/cgroup").glob("**/tare-*")) <= groups


def test_no_daemon_that_others_wait_for_is_ever_stopped() -> None:
    needed = {
        "sshd",
        "systemd",
        "dbus-daemon",
        "init",
        "postgres",
        "mysqld",
        "mariadbd",
        "containerd",
        "dockerd",
    }
    assert not needed & PERIODIC.keys()
    assert all(len(name.encode()) <= 15 for name in PERIODIC)  # the kernel shows no more of it


def test_the_command_prints_json_and_exits_with_0_in_spite_of_advice() -> None:
    from tare.cli.doctor import doctor

    app = typer.Typer()
    app.command()(doctor)
    done = CliRunner().invoke(app, ["--json", "--sample", "100ms"])
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["can_measure"] is True
    assert {"name", "status", "observed", "why", "next_step", "undoable"} <= report["findings"][0].keys()


def test_the_list_for_people_names_every_finding() -> None:
    from tare.cli.doctor import doctor

    app = typer.Typer()
    app.command()(doctor)
    done = CliRunner().invoke(app, ["--sample", "100ms"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    for part in (
        "What this machine and this user allow",
        "What disturbs",
        "delay accounting",
        "clock source",
    ):
        assert part in done.stdout
