"""The driver's process: what it is given, what is heard of it, and how it may end."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import pytest

from tare.errors import DriverFailed, UsageError
from tare.workload.oltp.child import Driver
from tare.workload.oltp.events import ChecksDone, TablesDropped
from tare.workload.oltp.request import Check, Request

REPLAY = str(Path(__file__).with_name("replay.py"))
REQUEST = Request(
    url="postgresql://me:s3cret%21@db/shop",
    workload="tpcc",
    scale=None,
    options={"fixed_lines": "15"},
    seed=7,
    connect_timeout_s=10,
    action=Check(rows=5),
)
DONE = ["tell", {"event": "checks_done", "took_ns": 5}]


class Script(Protocol):
    def __call__(self, *script: list[Any]) -> Driver: ...


@pytest.fixture
def driver(tmp_path: Path) -> Script:
    def made(*script: list[Any]) -> Driver:
        file = tmp_path / "script.json"
        file.write_text(json.dumps(script))
        return Driver(REQUEST, [sys.executable, REPLAY, str(file)])

    return made


def test_the_request_goes_through_standard_input_and_nowhere_else(tmp_path: Path, driver: Script) -> None:
    kept = tmp_path / "request"
    with driver(["keep", str(kept)], ["sleep", 0.2], DONE) as one:
        command_line = Path(f"/proc/{one.pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{one.pid}/environ").read_bytes()
        assert [type(event) for event in one.events()] == [ChecksDone]
    assert json.loads(kept.read_text()) == json.loads(REQUEST.line())
    assert b"s3cret" not in command_line + environment
    assert "s3cret" not in repr(REQUEST)


def test_nothing_is_awaited_after_the_last_line(driver: Script) -> None:
    with driver(["tell", {"event": "tables_dropped"}], ["sleep", 60]) as one:
        assert [type(event) for event in one.events()] == [TablesDropped]
        began = time.monotonic()
    assert time.monotonic() - began < 3


def test_a_silent_driver_gives_the_caller_time_to_draw(driver: Script) -> None:
    with driver(["sleep", 0.5], DONE) as one:
        events = list(one.events(wait_s=0.05))
    assert events[0] is None
    assert isinstance(events[-1], ChecksDone)


def test_it_can_be_stopped_early(driver: Script) -> None:
    with driver(["wait_stop"], DONE) as one:
        one.stop()
        assert [type(event) for event in one.events()] == [ChecksDone]


def test_ctrl_c_of_the_terminal_is_not_its_affair(driver: Script) -> None:
    with driver(["sleep", 0.1], DONE) as one:
        assert os.getsid(one.pid) == one.pid
        list(one.events())


def test_an_error_of_ours_ends_it_at_once(driver: Script) -> None:
    with pytest.raises(ZeroDivisionError), driver(["sleep", 60]) as one:
        one.pid / 0
    assert not Path(f"/proc/{one.pid}").exists()


def test_the_end_of_the_block_is_its_end(driver: Script) -> None:
    with driver(["sleep", 60]) as one:
        pid, began = one.pid, time.monotonic()
    assert time.monotonic() - began < 3
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(("usage", "error"), [(True, UsageError), (False, DriverFailed)])
def test_a_failure_that_it_reports_is_ours_with_its_next_step(
    usage: bool, error: type[Exception], driver: Script
) -> None:
    failed = {"event": "action_failed", "what": "no workload tpcd", "next": "take tpcc", "usage": usage}
    with driver(["tell", failed]) as one, pytest.raises(error, match="no workload tpcd\n  next: take tpcc"):
        list(one.events())


def test_a_death_is_reported_with_its_signal_and_its_last_words_without_the_password(driver: Script) -> None:
    script = (["say", "panicked at postgresql://me:s3cret%21@db/shop"], ["say", "with s3cret!"])
    with (
        driver(*script, ["sleep", 0.1], ["signal", signal.SIGKILL]) as one,
        pytest.raises(DriverFailed) as caught,
    ):
        list(one.events())
    assert "was ended by SIGKILL before it reported its result" in caught.value.what
    assert "panicked at the database" in caught.value.what
    assert "s3cret" not in str(caught.value)


def test_an_end_without_a_result_is_an_error_even_with_exit_code_0(driver: Script) -> None:
    with driver(["exit", 0]) as one, pytest.raises(DriverFailed, match="ended with exit code 0 before"):
        list(one.events())


def test_a_line_that_nobody_understands_is_shown(driver: Script) -> None:
    with driver(["text", "{not json"], ["sleep", 5]) as one, pytest.raises(DriverFailed, match=r"\{not json"):
        list(one.events())


def test_a_line_of_a_megabyte_comes_whole(driver: Script) -> None:
    rows = [["x" * 1000]] * 1000
    event = {
        "event": "check_result",
        "name": "1",
        "says": "",
        "failing": 1000,
        "columns": ["c"],
        "rows": rows,
    }
    with driver(["tell", {**event, "took_ns": 1}], DONE) as one:
        checked, _ = one.events()
    assert checked is not None
    assert checked.event == "check_result"
    assert len(checked.rows) == 1000
