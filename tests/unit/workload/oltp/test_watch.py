"""Watching real servers while they work, stop and come back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.dbms.servers import restart
from tare.workload.oltp.measures import NAMES, Watch
from tests.servers import own_server

BUSY = {
    "postgresql": "SELECT count(*) FROM generate_series(1, 200000)",
    "mariadb": "SELECT count(*) FROM seq_1_to_200000",
}


def work(url: str, dbms: str, until: float) -> None:
    session = find(url).connect(url, allow_writes=True)
    while time.monotonic() < until:
        session.run(BUSY[dbms])
    session.close()


@pytest.mark.parametrize("dbms", ["postgresql", "postgresql15", "mariadb"])
def test_a_busy_server_is_seen_in_every_second(dbms: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    with Watch(url, driver_pid=os.getpid()) as watch:
        time.sleep(1.3)
        start_ns = time.monotonic_ns() + 200_000_000
        watch.started(start_ns)
        work(url, dbms.removesuffix("15"), time.monotonic() + 3.4)
    found = watch.measures(start_ns)
    assert watch.unmeasured.keys() <= {"server_block_io"}  # where delay accounting is off
    assert {one.name for one in found} <= NAMES.keys()
    for name in (
        "server_cpu",
        "commits",
        "wal_bytes",
        "sessions_active",
        "machine_cpu",
        "machine_reschedules",
        "tare_cpu",
    ):
        assert {0, 1, 2} <= {one.second for one in found if one.name == name}, name
    busy = [one.value for one in found if one.name == "server_cpu" and one.second in (0, 1, 2)]
    assert sum(busy) > 0.05, "more than a server at rest takes, also on a machine that others keep busy"
    own = [one.value for one in found if one.name == "tare_session_cpu" and one.second >= 0]
    assert own
    assert max(own) < 0.1


def test_a_server_that_goes_and_comes_back_leaves_a_gap_and_no_more() -> None:
    with own_server("postgresql") as server, Watch(server.url, driver_pid=os.getpid()) as watch:
        time.sleep(2.5)
        away = threading.Thread(target=restart, args=(server.record,))
        away.start()
        away.join()
        time.sleep(4)
    found = watch.measures(0)
    seconds = {one.second for one in found if one.name == "machine_cpu"}
    with_server = {one.second for one in found if one.name == "commits"}
    assert min(with_server) < max(with_server) - 2
    assert seconds - with_server, "the gap"
    assert "missing" in watch.unmeasured["statistics"]


def test_of_an_embedded_dbms_the_driver_itself_is_watched(tmp_path: Path) -> None:
    program = "import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end: pass"
    with (
        subprocess.Popen([sys.executable, "-c", program]) as driver,
        Watch(f"sqlite:///{tmp_path}/d.db", driver.pid) as watch,
    ):
        time.sleep(2.5)
    busy = [one.value for one in watch.measures(time.monotonic_ns()) if one.name == "server_cpu"]
    assert max(busy) > 0.02, "more than a process at rest takes, also on a machine that others keep busy"
