"""A signal waits for what must not be left half done, and a second one ends the command."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tare.interruption import INTERRUPTED, Interrupted, check, deferred, deliver


def test_a_signal_waits_until_the_block_is_over() -> None:
    done = []

    def block() -> None:
        with deferred():
            with deferred():
                deliver(Interrupted(signal.SIGTERM))
            done.append("the outer block, too")

    with pytest.raises(Interrupted) as raised:
        block()
    assert done
    assert raised.value.exit_code == 143
    check()  # it is raised once


def test_a_wait_within_the_block_may_give_up() -> None:
    with deferred():
        deliver(Interrupted(signal.SIGINT))
        with pytest.raises(Interrupted):
            check()


def test_an_error_in_the_block_does_not_lose_the_signal() -> None:
    def block() -> None:
        with deferred():
            deliver(Interrupted(signal.SIGINT))
            raise ValueError

    with pytest.raises(Interrupted):
        block()


STUBBORN = """
import sys, time
from tare.interruption import deferred, install
install()
with deferred():
    print("in it", flush=True)
    time.sleep({seconds})
    print("over", flush=True)
print("not reached")
"""


def stubborn(seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN.format(seconds=seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in it\n"
    return process


@pytest.fixture
def stuck() -> Iterator[subprocess.Popen[str]]:
    process = stubborn(60)
    yield process
    process.kill()
    process.communicate(timeout=60)


def test_the_block_ends_before_the_command_does() -> None:
    process = stubborn(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=20)[0] == "over\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_what_does_not_end_by_itself(
    stuck: subprocess.Popen[str], number: signal.Signals, code: int
) -> None:
    stuck.send_signal(number)
    time.sleep(0.5)
    assert stuck.poll() is None
    stuck.send_signal(number)
    assert stuck.wait(5) == code


def test_the_same_signal_sent_to_a_group_as_well_is_one(stuck: subprocess.Popen[str]) -> None:
    stuck.send_signal(signal.SIGTERM)
    time.sleep(0.05)
    stuck.send_signal(signal.SIGTERM)
    time.sleep(2.5)
    assert stuck.poll() is None


FINALIZER = """
import os, signal, time
from tare.interruption import install
install()
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
Finalized()
time.sleep(60)
"""


def test_a_signal_that_comes_where_python_ignores_exceptions_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FINALIZER], capture_output=True, text=True, timeout=20, check=False
    )
    assert "tare.interruption.Interrupted: SIGINT" in done.stderr.splitlines()[-1]
    assert "Exception ignored" not in done.stderr
