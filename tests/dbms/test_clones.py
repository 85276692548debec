"""Clones of throw-away servers: their own settings on the server's data, and nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer
from tare.dbms.servers.clones import Template, remove_clones, url_at
from tare.dbms.servers.running import KINDS, restart, start_mariadb, start_postgresql, stop
from tare.errors import ServerFailed
from tests.servers import own_server

SETTINGS = {  # that need a restart: a value of the server's own, and another of the clone's
    "postgresql": ("max_connections", "57", "58", "SHOW max_connections"),
    "mariadb": ("back_log", "57", "58", "SELECT @@back_log"),
    "mysql": ("back_log", "57", "58", "SELECT @@back_log"),
}


@pytest.fixture(scope="module", params=SETTINGS)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with own_server(request.param) as running:
        with closing(find(running.url).connect(running.url, allow_writes=True)) as session:
            session.run("CREATE TABLE kept (id integer)")
            session.run("INSERT INTO kept VALUES (1), (2)")
        yield running


def value(url: str, sql: str) -> str:
    with closing(find(url).connect(url, allow_writes=True)) as session:
        return str(session.rows(sql)[0][0])


def test_a_clone_has_the_servers_data_and_its_own_settings_or_says_why_it_does_not_start(
    server: RunningServer,
) -> None:
    name, _, theirs, shows = SETTINGS[server.record.kind]
    before = value(server.url, shows)
    template = Template(server.record)
    try:
        with template.clone({name: theirs}) as clone:
            url = url_at(clone, server.url)
            assert value(url, shows) == theirs
            assert value(url, "SELECT count(*) FROM kept") == "2"
            with closing(find(url).connect(url, allow_writes=True)) as session:
                session.run("DELETE FROM kept")
            pid = KINDS[clone.kind].process(clone)
            assert pid is not None
        assert KINDS[clone.kind].process(clone) is None
        assert not clone.directory.exists()
        with template.clone({}) as clone:
            assert value(url_at(clone, server.url), "SELECT count(*) FROM kept") == "2"  # fresh data
        with (
            pytest.raises(ServerFailed, match=r"no.such.setting"),
            template.clone({"no_such_setting": "1"}),
        ):
            pass
        assert not (server.record.directory / "clones" / "server").exists()
    finally:
        remove_clones(server.record.directory)
    assert value(server.url, shows) == before
    assert value(server.url, "SELECT count(*) FROM kept") == "2"
    assert not (server.record.directory / "clones").exists()


CLONER = """
import sys
import tempfile
from pathlib import Path
from tare.dbms.servers.clones import Template
from tare.dbms.servers.running import known
server = known(Path(sys.argv[1]))
print("begins", flush=True)
template = Template(server)
while True:
    with template.clone({}):
        print("clone", flush=True)
"""


@pytest.mark.parametrize("after_s", [0.02, 0.5, 1.5])
def test_after_kill_9_the_server_runs_and_no_clone_is_left(server: RunningServer, after_s: float) -> None:
    directory = server.record.directory
    with subprocess.Popen(
        [sys.executable, "-c", CLONER, str(directory)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as cloner:
        assert cloner.stdout is not None
        cloner.stdout.readline()
        time.sleep(after_s)
        cloner.send_signal(signal.SIGKILL)
        cloner.wait()
    remove_clones(directory)
    assert value(server.url, "SELECT count(*) FROM kept") == "2"
    assert not (directory / "clones").exists()
    assert len(_processes_in(str(directory))) == 1


RESTARTER = """
import sys
from pathlib import Path
from tare.dbms.servers.running import known, restart
restart(known(Path(sys.argv[1])))
"""


@pytest.mark.mariadb
@pytest.mark.parametrize("server", ["mariadb", "mysql"], indirect=True)
def test_a_server_that_is_just_starting_gets_no_sigterm_before_it_answers(server: RunningServer) -> None:
    """The last test of this server."""
    record, kind = server.record, KINDS[server.record.kind]
    pid_file = kind.pid_file(record)
    kind.stop(record)
    assert not pid_file.exists()
    restarter = subprocess.Popen([sys.executable, "-c", RESTARTER, str(record.directory)])
    while not (pid_file.exists() and pid_file.read_text().strip()):
        assert restarter.poll() in (None, 0)
    pid = int(pid_file.read_text())
    os.kill(pid, signal.SIGSTOP)
    restarter.kill()
    restarter.wait()
    with ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(kind.stop, record)
        time.sleep(0.5)
        pending = re.search(r"^ShdPnd:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        os.kill(pid, signal.SIGCONT)
        stopped.result()
    assert pending is not None
    assert not int(pending[1], 16) & 1 << signal.SIGTERM - 1
    assert kind.process(record) is None


def _processes_in(directory: str) -> list[str]:
    """Servers whose data lie there: postmasters, mariadbd or mysqld."""
    found = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [
        line
        for line in found.splitlines()
        if directory in line and ("-D" in line or "--defaults-file" in line)
    ]


def test_a_later_start_keeps_the_settings_of_an_earlier_one() -> None:
    for start, (name, first, _, shows), second in (
        (start_postgresql, SETTINGS["postgresql"], ("work_mem", "5MB", "SHOW work_mem")),
        (start_mariadb, SETTINGS["mariadb"], ("sort_buffer_size", "1048576", "SELECT @@sort_buffer_size")),
    ):
        directory = Path(tempfile.mkdtemp(prefix="tare-test-"))
        server = start(directory=directory, settings={name: first})
        try:
            stop(directory)
            server = start(directory=directory, settings={second[0]: second[1]})
            assert value(server.url, shows) == first
            assert value(server.url, second[2]) == second[1]
            restart(server.record)
            assert value(server.url, shows) == first
            assert value(server.url, second[2]) == second[1]
        finally:
            stop(directory)
            shutil.rmtree(directory)
