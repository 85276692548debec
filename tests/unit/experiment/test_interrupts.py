"""The first signal is held back until it is asked for; the second ends at once."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from tare.experiment.interrupts import Interrupts
from tare.interruption import Interrupted


def send(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0.01)  # Python runs the handler between two of its own instructions


def test_the_first_signal_is_held_back_until_the_qe_in_hand_is_done() -> None:
    told: list[str] = []
    with Interrupts(lambda: told.append("pausing")) as interrupts:
        send()
        assert told == ["pausing"]
        with pytest.raises(Interrupted) as raised:
            interrupts.check()
    assert raised.value.exit_code == 130


def test_a_second_signal_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.interruption.SAME_S", 0.0)
    with Interrupts():
        send(signal.SIGTERM)
        with pytest.raises(Interrupted):
            send(signal.SIGTERM)


def test_the_first_signal_sent_to_the_whole_group_as_well_is_no_second_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So does `timeout -s INT`."""
    monkeypatch.setattr("tare.interruption.SAME_S", 3600.0)
    with Interrupts() as interrupts:
        send()
        send()
        with pytest.raises(Interrupted):
            interrupts.check()


def test_what_can_be_made_again_is_ended_by_the_first() -> None:
    with Interrupts() as interrupts, interrupts.at_once(), pytest.raises(Interrupted):
        send()


def test_a_long_pause_is_cut_short() -> None:
    with Interrupts() as interrupts:
        threading.Timer(0.1, send).start()
        began = time.monotonic()
        with pytest.raises(Interrupted):
            interrupts.sleep(30)
    assert time.monotonic() - began < 5


def test_what_a_signal_did_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
