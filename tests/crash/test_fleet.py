"""Executors of a fleet over one PostgreSQL lab, killed at random points: each execution once, none doubled or lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tare.dbms.servers import start_postgresql
from tests.cli.running import environment, tare
from tests.crash.experiment_killer import CARDINALITIES, QES, QUERIES, specification
from tests.unit.lab.databases import own_database

EACH = len(CARDINALITIES) * len(QUERIES) * QES
KILLS = 8
JOBS = 3
DEADLINE_S = 150.0


@pytest.fixture
def lab(postgresql_url: str) -> Iterator[str]:
    with own_database(postgresql_url) as url:
        yield url


class Member:
    """Executor of a fleet, started again whenever it was killed."""

    def __init__(self, lab: str, name: str, folder: Path) -> None:
        self._words = (
            "executor",
            "run",
            "--lab",
            lab,
            "--name",
            name,
            "--dbms",
            "sqlite",
            "--dir",
            str(folder / name),
        )
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tare", *self._words, "--once"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def rows(lab: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(lab) as connection:
        return connection.execute(sql).fetchall()  # type: ignore[call-overload]


def wait_for_qes(lab: str, count: int) -> None:
    deadline = time.monotonic() + 60
    while rows(lab, "SELECT count(*) FROM qe")[0][0] < count:  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def states(lab: str) -> Counter[object]:
    return Counter(state for (state,) in rows(lab, "SELECT state FROM job"))


def check(lab: str, jobs: int) -> None:
    """Each job's run has every execution once, all from one machine."""
    assert states(lab) == {"done": jobs}
    counted = rows(
        lab,
        "SELECT r.id, count(*), count(DISTINCT (e.qatc_id, e.number)) FROM job j JOIN run r ON r.uuid = j.run_uuid "
        "JOIN qe e ON e.run_id = r.id JOIN qatc c ON c.id = e.qatc_id "
        "WHERE e.number IS NOT NULL AND e.attempt = c.attempt AND NOT e.warmup GROUP BY r.id",
    )
    assert [(all_, distinct) for _, all_, distinct in counted] == [(EACH, EACH)] * jobs
    assert rows(lab, "SELECT count(*) FROM run") == [(jobs,)], "no run was begun twice"


def submit(lab: str, folder: Path, times: int) -> None:
    file = folder / "e.toml"
    file.write_text(specification('start = "sqlite"'))
    for _ in range(times):
        said = tare("experiment", "submit", str(file), "--lab", lab)
        assert said.code == 0, said.err


def test_jobs_survive_their_executors(lab: str, tmp_path: Path) -> None:
    submit(lab, tmp_path, JOBS)
    chance = random.Random(7)
    members = [Member(lab, name, tmp_path) for name in ("m1", "m2", "m3")]
    killed = 0
    deadline = time.monotonic() + DEADLINE_S
    while states(lab)["done"] < JOBS:
        assert time.monotonic() < deadline, states(lab)
        time.sleep(chance.uniform(0.1, 1.2))
        member = chance.choice(members)
        if killed < KILLS and member.process.poll() is None:
            member.kill()
            killed += 1
        for one in members:
            if one.process.poll() is not None:
                one.start()
    for member in members:
        member.kill()
    assert killed == KILLS
    check(lab, JOBS)


def test_a_frozen_executor_that_was_given_up_writes_nothing_when_it_wakes(lab: str, tmp_path: Path) -> None:
    submit(lab, tmp_path, 1)
    frozen = Member(lab, "m1", tmp_path)
    wait_for_qes(lab, 3)
    os.kill(frozen.process.pid, signal.SIGSTOP)
    try:
        before = rows(lab, "SELECT count(*) FROM qe")
        refused = tare("executor", "give-up", "1", "--lab", lab)
        assert (refused.code, "heard from" in refused.err) == (2, True)
        assert tare("executor", "give-up", "1", "--lab", lab, "--force").code == 0
        other = Member(lab, "m2", tmp_path)
        assert other.process.wait(timeout=90) == 0
    finally:
        os.kill(frozen.process.pid, signal.SIGCONT)
    assert frozen.process.wait(timeout=60) == 0, "it goes on to the next job, and there is none"
    first, second = rows(
        lab, "SELECT r.state, count(e.id) FROM run r JOIN qe e ON e.run_id = r.id GROUP BY r.id ORDER BY r.id"
    )
    assert first == ("failed", before[0][0])
    assert second[0] == "done"
    listed = tare("executor", "list", "--lab", lab, "--json", "-").result["jobs"]
    assert [(one["state"], one["executor"], one["run"]) for one in listed] == [("done", "m2", "e2")]


def test_two_executors_of_one_name_are_refused_and_a_failed_start_is_recorded(
    lab: str, tmp_path: Path
) -> None:
    file = tmp_path / "e.toml"
    file.write_text(specification('url = "sqlite:////nowhere/x.db"'))
    assert tare("experiment", "submit", str(file), "--lab", lab).code == 0
    submit(lab, tmp_path, 1)
    member = Member(lab, "m1", tmp_path)
    wait_for_qes(lab, 1)
    twin = tare("executor", "run", "--lab", lab, "--name", "m1", "--once")
    assert (twin.code, "an executor named m1" in twin.err) == (2, True)
    assert member.process.wait(timeout=90) == 0
    failed, done = rows(lab, "SELECT state, said FROM job ORDER BY id")
    assert failed[0] == "failed"
    assert "/nowhere" in str(failed[1])
    assert done == ("done", None)


def test_it_ends_after_the_current_execution_and_goes_on_later(lab: str, tmp_path: Path) -> None:
    submit(lab, tmp_path, 1)
    member = Member(lab, "m1", tmp_path)
    wait_for_qes(lab, 3)
    member.process.send_signal(signal.SIGTERM)
    assert member.process.wait(timeout=30) == 0
    assert states(lab) == {"claimed": 1}
    member.start()
    assert member.process.wait(timeout=90) == 0
    check(lab, 1)


def test_an_executor_waits_for_a_lab_that_is_away_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    server = start_postgresql(folder)
    submit(server.url, tmp_path, 1)
    member = Member(server.url, "m1", tmp_path)
    wait_for_qes(server.url, 3)
    server.stop()
    time.sleep(3)
    assert member.process.poll() is None
    with start_postgresql(folder):
        assert member.process.wait(timeout=90) == 0
        check(server.url, 1)


def test_a_file_is_no_lab_of_a_fleet(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(specification('start = "sqlite"'))
    said = tare("experiment", "submit", str(file), "--lab", str(tmp_path / "lab.db"))
    assert (said.code, "cannot share" in said.err) == (2, True)
