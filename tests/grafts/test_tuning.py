"""A graft's policy is a setting of its server: `tare tune` compares policies by turns and puts the policy back."""

from __future__ import annotations

import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tare.errors import UsageError
from tare.grafts import server
from tare.tune.settings.connecting import connect
from tests.cli.running import start, tare

NAME = "graft.lock-order"
SHORT = ("--rate", "40", "--window", "1s", "--settle", "0.2s", "--warmup", "0s", "--connections", "4")


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "TARE_TUNINGS": str(tmp_path / "tunings")}


@pytest.fixture(scope="module")
def loaded(lock_order: RunningServer) -> RunningServer:
    server.switch(lock_order.directory, "first-come")
    assert tare("bench", "oltp", "load", "tpcc", "--db", lock_order.url, "--scale", "1").code == 0
    return lock_order


def policy(running: RunningServer) -> str:
    return server.status(running.directory)[1].policy


def test_the_policy_is_read_changed_and_put_back(lock_order: RunningServer) -> None:
    server.switch(lock_order.directory, "first-come")
    with closing(connect(lock_order.url)) as settings:
        found = settings.settings([NAME, "sort_buffer_size"])
        assert found[NAME].value == "first-come"
        assert "eldest" in found[NAME].choices
        assert NAME in settings.settings()
        kept = settings.keep([NAME, "sort_buffer_size"])
        settings.change({NAME: "eldest"})
        assert policy(lock_order) == "eldest"
        settings.put_back(kept)
        assert policy(lock_order) == "first-come"
        with pytest.raises(UsageError, match="policy"):
            settings.change({NAME: "youngest"})
        with pytest.raises(UsageError, match=r"its graft is graft\.lock-order"):
            settings.settings(["graft.lazy-lru"])


def test_policies_take_turns_in_one_run(loaded: RunningServer, place: dict[str, str]) -> None:
    words = ("tpcc", "--db", loaded.url, "--set", f"{NAME}=eldest,random", *SHORT, "--blocks", "2")
    done = tare("tune", "run", *words, "--json", "-", **place)
    assert done.code == 0, done.err
    assert {window["arm"] for window in done.result["windows"]} == {
        "baseline",
        "baseline again",
        f"{NAME}=eldest",
        f"{NAME}=random",
    }
    assert policy(loaded) == "first-come"
    applied = tare("tune", "apply", "t1", f"{NAME}=eldest", "--as", "my.cnf", **place)
    assert applied.code == 2
    assert "tare graft switch eldest" in " ".join(applied.err.split())


def test_a_killed_run_leaves_a_policy_that_the_next_command_puts_back(
    loaded: RunningServer, place: dict[str, str]
) -> None:
    tuning = start("tune", "run", "tpcc", "--db", loaded.url, "--set", f"{NAME}=random", *SHORT, **place)
    until = time.monotonic() + 60
    while policy(loaded) == "first-come":
        assert tuning.poll() is None, tuning.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    tuning.send_signal(signal.SIGKILL)
    tuning.communicate()
    assert policy(loaded) == "random"
    restored = tare("tune", "restore", **place)
    assert restored.code == 0, restored.err
    assert policy(loaded) == "first-come"
