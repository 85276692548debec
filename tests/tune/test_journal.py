"""Changed settings are put back: at the end of a block, after an error, and after kill -9."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tare.tune.journal import Changes, leftovers, restore
from tare.tune.settings.connecting import connect
from tare.tune.settings.setting import ChangeFailed

ARMS = {
    "postgresql": ({"synchronous_commit": "off", "commit_delay": "100"}, {"work_mem": "8MB"}),
    "mariadb": ({"innodb_flush_log_at_trx_commit": "2"}, {"innodb_io_capacity": "777"}),
}

SWITCHER = """
import sys
from tare.tune.journal import Changes
from tare.tune.settings.connecting import connect
arms = eval(sys.argv[2])
with Changes(connect(sys.argv[1]), [name for arm in arms for name in arm]) as changes:
    print("journal", flush=True)
    while True:
        for arm in arms:
            changes.make(arm)
            print("changed", flush=True)
"""


def names(server: RunningServer) -> list[str]:
    return [name for arm in ARMS[server.record.kind] for name in arm]


def now(server: RunningServer) -> object:
    with closing(connect(server.url)) as settings:
        return settings.keep(names(server))


def test_a_block_puts_back_what_it_changed_and_leaves_no_journal(
    server: RunningServer, journals: Path
) -> None:
    before = now(server)
    with closing(connect(server.url)) as settings, Changes(settings, names(server)) as changes:
        for arm in ARMS[server.record.kind]:
            changes.make(arm)
            assert now(server) != before
            assert list(journals.glob("*.journal"))
    assert now(server) == before
    assert not list(journals.glob("*.journal"))


def test_an_arm_holds_only_its_own_changes(server: RunningServer) -> None:
    first, second = ARMS[server.record.kind]
    with closing(connect(server.url)) as settings, Changes(settings, names(server)) as changes:
        changes.make(first)
        changes.make(second)
        found = {name: fact.value for name, fact in settings.settings(names(server)).items()}
        assert {name: found[name] for name in first} == {name: changes.baseline[name] for name in first}


def test_an_error_puts_back(server: RunningServer) -> None:
    before = now(server)
    with (
        pytest.raises(ChangeFailed),
        closing(connect(server.url)) as settings,
        Changes(settings, names(server)) as arms,
    ):
        arms.make({**ARMS[server.record.kind][0], names(server)[-1]: "many"})
    assert now(server) == before


def test_a_session_that_was_lost_does_not_keep_settings_from_being_put_back(server: RunningServer) -> None:
    before = now(server)
    settings = connect(server.url)
    with Changes(settings, names(server)) as changes:
        changes.make(ARMS[server.record.kind][0])
        settings.close()
    assert now(server) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_killed_at_random_points_the_settings_come_back(
    server: RunningServer, number: signal.Signals
) -> None:
    before = now(server)
    for _ in range(4):
        kill_switcher(server, number, random.uniform(0, 0.2))
        restored = restore()
        assert [one.failure for one in restored] in ([], [None])
        assert now(server) == before
        assert not list(leftovers())


def test_a_journal_of_a_run_that_lives_is_left_alone(server: RunningServer) -> None:
    with closing(connect(server.url)) as settings, Changes(settings, names(server)) as changes:
        changes.make(ARMS[server.record.kind][0])
        assert restore() == ()


CLONER = """
import sys
from contextlib import closing
from pathlib import Path
from tare.dbms.servers.running import known
from tare.tune.arms import Arm
from tare.tune.restarts import Restarts
server = known(Path(sys.argv[1]))
print("begins", flush=True)
with Restarts(server, server.url) as restarts:
    while True:
        with restarts.under(Arm("baseline", {})):
            pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_killed_at_random_points_the_server_runs_and_its_clones_are_gone(
    server: RunningServer, number: signal.Signals
) -> None:
    before = now(server)
    directory = server.record.directory
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", CLONER, str(directory)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as cloner:
            assert cloner.stdout is not None
            cloner.stdout.readline()
            time.sleep(random.uniform(0, 2))
            cloner.send_signal(number)
            cloner.wait()
        restored = restore()
        assert [(left.failure, left.cloned) for left in restored] in ([], [(None, directory)])
        assert now(server) == before
        assert not (directory / "clones").exists()
        assert not list(leftovers())


def kill_switcher(server: RunningServer, number: signal.Signals, after_s: float) -> None:
    """Start a program that switches arms, and signal it a while after its first output."""
    arms = repr(ARMS[server.record.kind])
    with subprocess.Popen(
        [sys.executable, "-c", SWITCHER, server.url, arms], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as switcher:
        assert switcher.stdout is not None
        switcher.stdout.readline()
        time.sleep(after_s)
        switcher.send_signal(number)
        switcher.wait()
