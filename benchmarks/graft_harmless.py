"""Proofs that grafts leave their server whole: consistency, deadlocks, recovery after kill -9, equal answers.

python -m benchmarks.graft_harmless [--small] [--minutes 60]

Random SQL beside a twin takes --minutes for each graft, all else about 20.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.common import arguments
from benchmarks.grafted import Harm, storm, twin
from benchmarks.grafted.consistency import (
    Switching,
    check_conditions,
    check_tables,
    nobody_waits,
    tpcc,
)
from benchmarks.oltp_common import load
from tare.dbms.servers import RunningServer, restart, start_mysql
from tare.grafts import server as grafts
from tare.grafts.catalogue import GRAFTS, Graft

SETTINGS = {"max-connections": "300", "innodb-lock-wait-timeout": "20"}
SMALL_POOL = {"innodb-buffer-pool-size": "24M"}


def start(graft: Graft, **settings: str) -> RunningServer:
    """A grafted server; the pool of lazy-lru's holds a part of the data."""
    more = SMALL_POOL if graft.name == "lazy-lru" else {}
    return grafts.start(graft, settings=SETTINGS | more | settings)


def policies_keep_tpcc_consistent(server: RunningServer, graft: Graft, rate: float, seconds: float) -> str:
    """TPC-C under each policy; conditions and tables after each."""
    load(server.url, 1)
    before = grafts.status(server.directory)[1]
    for policy in graft.policies:
        grafts.switch(server.directory, policy.name)
        tpcc(server.url, rate, seconds)
        nobody_waits(server.url)
        held = check_conditions(server.url)
    tables = check_tables(server.url)
    counts = grafts.status(server.directory)[1].since(before)
    return f"{len(graft.policies)} policies, {held} conditions, {tables} tables whole, {counts}"


def switches_under_load_are_harmless(
    server: RunningServer, rate: float, seconds: float, switches: int
) -> str:
    """TPC-C and a storm while the policy is switched at random."""
    load(server.url, 1)
    with Switching(grafts.memory(server.record), seconds / switches) as switching:
        tpcc(server.url, rate, seconds)
        storm.make_tables(server.url)
        while switching.switches < switches:
            storm.storm(server.url, 8, 1.0)
    nobody_waits(server.url)
    check_conditions(server.url)
    check_tables(server.url)
    return f"{switching.switches} switches"


def storms_end(server: RunningServer, graft: Graft, threads: int, seconds: float) -> str:
    """A deadlock storm under each policy."""
    shown = []
    for policy in graft.policies:
        grafts.switch(server.directory, policy.name)
        storm.make_tables(server.url)
        result = storm.storm(server.url, threads, seconds, seed=len(shown))
        storm.check(server.url, result)
        nobody_waits(server.url)
        if result.deadlocks == 0:
            raise Harm(f"{policy.name}: the storm of {result.commits} commits had no deadlock")
        shown.append(f"{policy.name} {result.commits} commits and {result.deadlocks} deadlocks")
    check_tables(server.url)
    return ", ".join(shown)


def kills_lose_nothing(graft: Graft, kills: int, threads: int) -> str:
    """kill -9 within a storm, recovery with the graft, and all acknowledged commits there."""
    chance = random.Random(11)
    commits = 0
    with start(graft, **{"innodb-flush-log-at-trx-commit": "1"}) as server:
        for number in range(kills):
            policy = graft.policies[number % len(graft.policies)].name
            grafts.switch(server.directory, policy)
            storm.make_tables(server.url)
            after_s = 1.0 + chance.random()
            killer = threading.Timer(after_s, os.kill, (server.pid, signal.SIGKILL))
            killer.start()
            result = storm.storm(server.url, threads, after_s + 20, seed=number, ends_by_kill=True)
            killer.join()
            restart(server.record)
            storm.check(server.url, result)
            check_tables(server.url)
            commits += result.commits
    return f"{kills} kills, {commits} acknowledged commits there, tables whole"


def answers_are_those_of_a_twin(graft: Graft, seconds: float) -> str:
    """Random SQL, the policy switched at random."""
    compared = rounds = 0
    with start(graft) as server, start_mysql(settings=SETTINGS) as alone:
        for url in (server.url, alone.url):
            twin.make_tables(url)
        memory: Path = grafts.memory(server.record)
        deadline = time.monotonic() + seconds
        with Switching(memory, 0.01):
            while time.monotonic() < deadline:
                compared += twin.compare_round(server.url, alone.url, rounds)
                rounds += 1
        check_tables(server.url)
    return f"{compared} answers in {rounds} rounds are equal"


def proofs(graft: Graft, *, small: bool, minutes: int) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names of proofs with what carries them out, one at a time."""
    seconds, twin_s, kills = (4.0, 20.0, 2) if small else (30.0, 60.0 * minutes, 24)
    with start(graft) as server:
        yield "TPC-C", lambda: policies_keep_tpcc_consistent(server, graft, 300.0, seconds)
        yield "switches", lambda: switches_under_load_are_harmless(server, 300.0, seconds, 1000)
        yield "deadlock storm", lambda: storms_end(server, graft, 24, seconds)
    yield "kill -9", lambda: kills_lose_nothing(graft, kills, 16)
    yield "twin", lambda: answers_are_those_of_a_twin(graft, twin_s)


def main() -> int:
    given = arguments(__doc__ or "", minutes=60)
    failed = 0
    for graft in GRAFTS.values():
        for name, work in proofs(graft, small=given.small, minutes=given.minutes):
            began = time.monotonic()
            try:
                shown = work()
            except Harm as harm:
                failed += 1
                shown = f"HARM: {harm}"
            print(f"{graft.name}, {name}: {shown} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
