"""Priorities of Tare's own threads."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tare.profile import background as module
from tare.profile.background import NICE, background, foreground


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def in_a_thread() -> int:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(nice).result()


@pytest.fixture
def may() -> None:
    if not module._may_raise():
        pytest.fail("this test needs the right to raise a priority: run it as root")


def test_a_block_in_the_background_gives_way_and_is_put_back(may: None) -> None:
    usual = nice()
    with background():
        assert nice() == max(usual, NICE)
        assert in_a_thread() == max(usual, NICE)
        with background():
            assert nice() == max(usual, NICE)
        with foreground():
            assert (nice(), in_a_thread()) == (usual, usual)
        assert nice() == max(usual, NICE)
    assert nice() == usual


def test_an_error_within_puts_it_back_too(may: None) -> None:
    usual = nice()
    with pytest.raises(KeyError), background():
        raise KeyError
    assert nice() == usual


def test_who_could_not_take_it_back_keeps_his_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_may_raise", lambda: False)
    usual = nice()
    with background(), foreground():
        assert nice() == usual
