"""Work in threads: its results, and what a failure or a signal leaves."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tare.parallel import in_threads


def test_results_are_in_the_order_of_the_items() -> None:
    assert in_threads(lambda one: one * one, range(20), 3) == [one * one for one in range(20)]


def test_a_failure_is_raised_when_all_that_had_begun_have_ended() -> None:
    begun = threading.Barrier(2, timeout=30)
    ended: list[int] = []

    def work(one: int) -> None:
        if one < 2:
            begun.wait()
        if one == 0:
            raise ValueError(one)
        ended.append(one)

    with pytest.raises(ValueError, match="0"):
        in_threads(work, range(2), 2)
    assert ended == [1]


STARTING = """
import os, signal, sys, threading, time
from tare.interruption import Interrupted, install
from tare.parallel import in_threads
install()
start = threading.Thread.start
def interrupted(thread):
    start(thread)
    os.kill(os.getpid(), signal.SIGINT)  # before the pool has noted its thread
threading.Thread.start = interrupted
ended = []
def work(one):
    time.sleep(0.5)
    ended.append(one)
try:
    in_threads(work, range(1), 2)
except Interrupted:
    print(ended)
"""


def test_a_signal_at_the_start_of_a_thread_leaves_none_at_work() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "[0]\n", done.stderr
