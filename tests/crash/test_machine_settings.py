"""A machine setting is put back however its run ends. On the real kernel, so as root only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tare.errors import PrivilegeMissing, TareError, UsageError
from tare.measure.machine import MachineSettings, delay_accounting_on
from tare.measure.machine.leftovers import leftovers, restore
from tare.measure.machine.putback import journal as journals
from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.lock import locked
from tare.measure.machine.putback.steps import CHANGED, GONE, HELD, PUT_BACK
from tare.measure.machine.settings import journal_directory
from tests.cli.running import start, wait_until_it_ran

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="changing a setting of the kernel needs root"),
]

# A setting that nothing else changes and that the tests may have for a second.
NAME = "kernel.printk_ratelimit_burst"
FILE = Path("/proc/sys/kernel/printk_ratelimit_burst")
OLD, NEW = "10", "11"


@pytest.fixture(autouse=True)
def known_value() -> Iterator[None]:
    before = FILE.read_text()
    FILE.write_text(OLD)
    yield
    FILE.write_text(before)


@dataclass
class Holder:
    process: subprocess.Popen[str]
    said: str
    guardian: int

    def leave(self) -> None:
        self.process.communicate("\n", timeout=10)


Hold = Callable[..., Holder]


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Hold]:
    started: list[Holder] = []

    def start(then: str = "sleep", value: str = NEW) -> Holder:
        process = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("machine_holder.py")),
                str(tmp_path),
                NAME,
                value,
                then,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert process.stdout is not None
        said = process.stdout.readline().split()
        assert said, process.communicate(timeout=60)[1]
        started.append(Holder(process, said[0], int(said[1])))
        return started[-1]

    yield start
    for holder in started:
        if holder.process.poll() is None:
            holder.process.kill()
        holder.process.communicate(timeout=60)


def value() -> str:
    return FILE.read_text().strip()


def seconds_until(wanted: str) -> float:
    began = time.monotonic()
    while value() != wanted and time.monotonic() - began < 5:
        time.sleep(0.002)
    assert value() == wanted
    return time.monotonic() - began


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def until_dead(pid: int) -> None:
    """A killed process holds its locks until the kernel has torn it down."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if state(pid) in "ZX":
                return
        except OSError:
            return
        time.sleep(0.002)
    pytest.fail(f"{pid} did not end")


def test_a_setting_is_there_while_held_and_back_afterwards(tmp_path: Path) -> None:
    with MachineSettings(tmp_path) as settings:
        assert settings.set_sysctl(NAME, NEW) is True
        assert value() == NEW
    assert value() == OLD
    assert list(tmp_path.glob("run-*")) == []


def test_a_value_that_was_there_already_changes_nothing_and_starts_nothing(tmp_path: Path) -> None:
    with MachineSettings(tmp_path) as settings:
        assert settings.set_sysctl(NAME, OLD) is False
        assert list(tmp_path.glob("run-*")) == []


def test_an_exception_in_the_run_puts_it_back_and_is_not_swallowed(hold: Hold) -> None:
    holder = hold("raise")
    _, complaint = holder.process.communicate(timeout=10)
    assert "the run failed" in complaint
    assert value() == OLD


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_that_ends_the_run_puts_it_back_within_a_second(hold: Hold, how: signal.Signals) -> None:
    holder = hold()
    assert value() == NEW
    holder.process.send_signal(how)
    assert seconds_until(OLD) < 1.0


def test_ctrl_c_in_the_terminal_does_not_reach_the_guardian(hold: Hold) -> None:
    holder = hold()
    assert os.getsid(holder.guardian) != os.getsid(holder.process.pid)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(holder.guardian, ignored)
    time.sleep(0.1)
    assert value() == NEW
    holder.process.kill()
    assert seconds_until(OLD) < 1.0


def test_a_killed_guardian_is_missed_by_nobody_if_the_run_ends_well(hold: Hold) -> None:
    holder = hold("leave")
    os.kill(holder.guardian, signal.SIGKILL)
    holder.leave()
    assert value() == OLD


def test_after_run_and_guardian_are_killed_the_left_over_is_found_and_mended(
    hold: Hold, tmp_path: Path
) -> None:
    holder = hold()
    assert leftovers(tmp_path) == []  # a living run is nobody's left-over
    os.kill(holder.guardian, signal.SIGKILL)
    holder.process.kill()
    until_dead(holder.guardian)
    holder.process.wait()
    assert value() == NEW
    (left,) = leftovers(tmp_path)
    assert left.pid == holder.process.pid
    assert left.to_put_back == (f"{NAME} = {OLD}",)
    (undone,) = restore(tmp_path)
    assert undone.how == PUT_BACK
    assert value() == OLD
    assert leftovers(tmp_path) == []


def test_of_two_overlapping_runs_the_last_one_out_puts_it_back(hold: Hold) -> None:
    first, second = hold("leave"), hold("leave")
    assert (first.said, second.said) == ("held", "shared")
    first.leave()
    assert value() == NEW
    second.leave()
    assert value() == OLD


def test_the_second_run_puts_back_what_the_first_found_even_if_both_are_killed_in_turn(hold: Hold) -> None:
    first, second = hold(), hold()
    first.process.kill()
    first.process.wait()
    time.sleep(0.3)
    assert value() == NEW
    second.process.kill()
    assert seconds_until(OLD) < 1.0


def test_a_run_after_a_crash_puts_back_what_was_there_before_the_crash(hold: Hold, tmp_path: Path) -> None:
    crashed = hold()
    os.kill(crashed.guardian, signal.SIGKILL)
    crashed.process.kill()
    until_dead(crashed.guardian)
    crashed.process.wait()
    hold("leave").leave()
    assert value() == OLD


def test_the_left_over_of_a_crash_waits_for_a_living_run_that_needs_the_setting(
    hold: Hold, tmp_path: Path
) -> None:
    crashed = hold()
    os.kill(crashed.guardian, signal.SIGKILL)
    crashed.process.kill()
    until_dead(crashed.guardian)
    crashed.process.wait()
    living = hold("leave")
    assert [undone.how for undone in restore(tmp_path)] == [HELD]
    assert value() == NEW
    living.leave()
    assert value() == OLD


def test_another_value_than_a_living_run_holds_is_refused(hold: Hold, tmp_path: Path) -> None:
    holder = hold("leave")
    with MachineSettings(tmp_path) as settings, pytest.raises(TareError, match=str(holder.process.pid)):
        settings.set_sysctl(NAME, "12")
    assert value() == NEW


def test_a_child_that_the_run_forked_does_not_keep_the_setting(hold: Hold) -> None:
    holder = hold("fork")
    assert holder.process.stdout is not None
    child = int(holder.process.stdout.readline().split()[1])
    try:
        holder.process.kill()
        assert seconds_until(OLD) < 1.0
    finally:
        os.kill(child, signal.SIGKILL)


def test_what_somebody_else_has_set_since_is_left_alone(tmp_path: Path) -> None:
    settings = MachineSettings(tmp_path)
    settings.set_sysctl(NAME, NEW)
    FILE.write_text("12")
    (undone,) = settings.close()
    assert undone.how == CHANGED
    assert value() == "12"


def test_a_line_cut_off_by_a_crash_stands_for_a_change_that_never_happened(
    hold: Hold, tmp_path: Path
) -> None:
    holder = hold()
    (path,) = tmp_path.glob("run-*")
    with path.open("a") as torn:
        torn.write('{"kind": "sysctl", "name": "kernel.pa')
    holder.process.kill()
    assert seconds_until(OLD) < 1.0


def test_a_journal_of_an_earlier_boot_is_void(tmp_path: Path) -> None:
    header = {"pid": 1, "command": "tare", "boot_id": "another"}
    step = {"kind": "sysctl", "name": NAME, "old": "12", "new": OLD}
    (tmp_path / "run-1-x.journal").write_text(json.dumps(header) + "\n" + json.dumps(step) + "\n")
    assert leftovers(tmp_path) == []
    assert restore(tmp_path) == []
    assert value() == OLD


def test_a_setting_that_the_kernel_lacks_is_a_usage_error(tmp_path: Path) -> None:
    with MachineSettings(tmp_path) as settings, pytest.raises(UsageError, match=r"kernel\.no_such"):
        settings.set_sysctl("kernel.no_such", "1")


def test_a_value_that_the_kernel_refuses_leaves_no_step_behind(tmp_path: Path) -> None:
    with MachineSettings(tmp_path) as settings:
        with pytest.raises(OSError, match="Invalid argument"):
            settings.set_sysctl(NAME, "not a number")
        assert settings.close() == []


def test_a_stopped_process_runs_again_and_one_that_ended_meanwhile_is_no_failure(tmp_path: Path) -> None:
    stays, goes = (subprocess.Popen(["sleep", "60"]) for _ in range(2))
    settings = MachineSettings(tmp_path)
    try:
        assert settings.stop_process(stays.pid)
        assert settings.stop_process(goes.pid)
        while state(stays.pid) != "T":  # a signal takes a moment to arrive
            time.sleep(0.001)
        assert settings.stop_process(stays.pid) is False  # it is stopped already
        goes.kill()
        goes.wait()
        assert [undone.how for undone in settings.close()] == [GONE, PUT_BACK]
        assert state(stays.pid) in "RS"
    finally:
        settings.close()
        stays.kill()
        stays.wait()


@pytest.fixture
def knob() -> Path:
    """File that switches delay accounting on and off."""
    file = Path("/proc/sys/kernel/task_delayacct")
    if not file.exists():
        pytest.skip("this kernel has no delay accounting")
    return file


def test_delay_accounting_is_on_while_held_and_then_as_before(knob: Path) -> None:
    before = knob.read_text()
    with MachineSettings() as settings:
        with locked(settings._place()):
            others = [run for run in journals.runs(settings._place()) if run.alive]
        if others:
            pytest.skip(f"another run holds machine settings: {others[0].path.name}")
        assert delay_accounting_on(settings) is (before.strip() != "1")
        assert knob.read_text().strip() == "1"
    assert knob.read_text() == before


def test_ctrl_c_while_a_query_is_weighed_puts_delay_accounting_back(knob: Path, postgresql_url: str) -> None:
    before = knob.read_text()
    run = start("time", "SELECT pg_sleep(0.2)", "--db", postgresql_url, "--runs", "1000", "--warmup", "0")
    wait_until_it_ran(postgresql_url, "SELECT pg_sleep(0.2)", times=3)
    assert knob.read_text().strip() == "1"
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert "interrupted" in err
    assert knob.read_text() == before


def test_without_the_right_the_message_says_what_to_do() -> None:
    directory = Path(tempfile.mkdtemp())  # pytest's own are closed to other users
    os.chown(directory, 65534, 65534)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setresuid(65534, 65534, 65534)
        try:
            os.chdir("/")
            with MachineSettings(directory) as settings:
                settings.set_sysctl(NAME, NEW)
            os.write(writing, b"changed")
        except BaseException as refused:
            os.write(writing, f"{type(refused).__name__}: {refused}".encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    said = os.read(reading, 4096).decode()
    os.close(reading)
    shutil.rmtree(directory)
    assert said.startswith(PrivilegeMissing.__name__)
    assert f"sysctl -w {NAME}={NEW}" in said
    assert value() == OLD


@pytest.mark.parametrize("words", [("--version",), ("report", "--help"), ("server", "list"), ("time",)])
def test_the_next_command_of_any_kind_puts_back_what_a_crash_left(words: tuple[str, ...]) -> None:
    FILE.write_text(NEW)
    journal = journal_directory() / "run-1-of-a-test.journal"
    header = {"pid": 1, "command": "tare time", "boot_id": tasks.boot_id()}
    step = {"kind": "sysctl", "name": NAME, "old": OLD, "new": NEW}
    journal.write_text(json.dumps(header) + "\n" + json.dumps(step) + "\n")
    try:
        _, told = start(*words).communicate(timeout=60)
        assert value() == OLD
        assert not journal.exists()
        assert f"tare: left by a crashed run: {NAME} = {OLD}: put back" in told
    finally:
        journal.unlink(missing_ok=True)


def test_a_run_does_not_wait_for_a_lock_that_another_keeps(hold: Hold, tmp_path: Path) -> None:
    holder = hold("leave")
    blocker = subprocess.Popen(
        [sys.executable, "-c", BLOCK, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert blocker.stdout is not None
        assert blocker.stdout.readline() == "has it\n"
        began = time.monotonic()
        _, told = holder.process.communicate("\n", timeout=10)
        assert time.monotonic() - began < 5
        assert f"left to the guardian: settings (by process {holder.guardian}" in told
        assert f"(pid {blocker.pid})" in told
        assert value() == NEW
        blocker.communicate("\n", timeout=10)
        seconds_until(OLD)
    finally:
        blocker.kill()
        blocker.communicate(timeout=60)


BLOCK = """
import sys
from pathlib import Path
from tare.measure.machine.putback.lock import locked
with locked(Path(sys.argv[1])):
    print("has it", flush=True)
    sys.stdin.readline()
"""
