"""TPC-C's conditions and InnoDB's own CHECK TABLE, after a load under each policy."""

from __future__ import annotations

import random
import threading
import time
from contextlib import closing
from pathlib import Path

from benchmarks.grafted import Harm
from benchmarks.grafted.sessions import connect, execute, run
from benchmarks.oltp_common import conditions, poisson, send
from tare.grafts.shared import Switch, read
from tare.workload.oltp.events import Outcome


def check_tables(url: str) -> int:
    """Number of tables that InnoDB found whole. Raises Harm."""
    with closing(connect(url, autocommit=True)) as connection:
        tables = [name for (name,) in run(connection, "SHOW TABLES")]
        for table in tables:
            answers = run(connection, f"CHECK TABLE `{table}` EXTENDED")
            if answers[-1][2:] != ("status", "OK"):
                raise Harm(f"CHECK TABLE {table}: {answers}")
    return len(tables)


def check_conditions(url: str) -> int:
    """Number of TPC-C's conditions, which all hold. Raises Harm."""
    found = conditions(url)
    if found.failing:
        raise Harm(f"conditions fail: {found.failing}")
    return len(found.checked)


def tpcc(url: str, rate: float, seconds: float) -> Outcome:
    return send(url, poisson(rate, 32, seconds, 0.5, None))


def nobody_waits(url: str) -> None:
    """Raises Harm if a transaction still waits when no client works."""
    deadline = time.monotonic() + 10
    sql = "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
    while execute(url, sql) != [(0,)]:
        if time.monotonic() > deadline:
            raise Harm("a transaction waits for a lock although no client works")
        time.sleep(0.2)


class Switching(threading.Thread):
    """Switches the policy at random, many times a second, until the block ends."""

    def __init__(self, memory: Path, every_s: float) -> None:
        super().__init__(daemon=True)
        self.switches = 0
        self._memory, self._every_s = memory, every_s
        self._ended = threading.Event()

    def run(self) -> None:
        chance = random.Random(5)
        policies = [policy.name for policy in read(self._memory).graft.policies]
        with Switch(self._memory) as word:
            while not self._ended.wait(self._every_s):
                word.set(chance.choice(policies))
                self.switches += 1
            word.set(policies[0])

    def __enter__(self) -> Switching:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()
