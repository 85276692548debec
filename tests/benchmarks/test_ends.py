"""`benchmarks.ends` runs every command, and sees a process that ends by an abort."""

from __future__ import annotations

import sys

import pytest
from benchmarks.ends.commands import Place, command_of, commands, trials
from benchmarks.ends.exits import exit_of

PLACE = Place(
    postgresql="postgresql:///numbers",
    embedded=("sqlite:///numbers.db", "duckdb:///numbers.duckdb"),
    lab="lab.db",
    profiles="profiles",
    tunings="tunings",
    specification="e.toml",
    profile="p",
    has_rows=True,
)


def test_every_command_has_an_invocation_and_every_invocation_is_of_a_command() -> None:
    known = commands()
    found = trials(PLACE)
    assert {"time", "bench oltp run", "server start"} <= set(known)
    assert sorted(found) == sorted(known)
    for name, own in found.items():
        assert {command_of(trial[0].words, known) for trial in own} == {name}
        assert all(command_of(step.words, known) for trial in own for step in trial)


@pytest.mark.parametrize(
    ("program", "is_abort"),
    [
        ("pass", False),
        ("raise SystemExit(2)", False),
        ("import os; os.abort()", True),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", True),
        ("raise SystemExit(134)", True),
        ("raise SystemExit(139)", True),
        ("raise ValueError", True),
        ("import sys; print('terminate called without an active exception', file=sys.stderr)", True),
    ],
)
def test_an_abort_is_seen(program: str, is_abort: bool) -> None:
    end = exit_of("any", [sys.executable, "-c", program], (0, 2), {})
    assert end.is_abort is is_abort, end
    assert end.is_expected is (program in ("pass", "raise SystemExit(2)") or "terminate" in program)


def test_a_process_that_does_not_end_is_killed_and_is_not_expected() -> None:
    end = exit_of("any", [sys.executable, "-c", "import time; time.sleep(60)"], (0,), {}, limit_s=0.5)
    assert end.has_hung
    assert not end.is_expected
    assert end.seconds < 30
