"""A deadlock storm: transactions that lock a few rows in random order, shared and exclusively, with inserts between.

Each commit is known. So is what the table must then hold, and nobody may wait to the time limit.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import mariadb

from benchmarks.grafted import Harm
from benchmarks.grafted.sessions import TIMED_OUT, connect, execute, run, until_committed

ROWS = 8


@dataclass
class Storm:
    """Result. `acknowledged`: numbers of the transactions of each thread whose commits returned."""

    commits: int = 0
    deadlocks: int = 0
    added: Counter[int] = field(default_factory=Counter)
    acknowledged: dict[int, int] = field(default_factory=dict)
    lost: int = 0  # threads that lost the server


def make_tables(url: str) -> None:
    execute(
        url,
        "DROP TABLE IF EXISTS storm, storm_log",
        "CREATE TABLE storm (id INT PRIMARY KEY, v BIGINT NOT NULL, note INT, KEY (note)) ENGINE=InnoDB",
        f"INSERT INTO storm VALUES {', '.join(f'({10 * row}, 0, {row % 3})' for row in range(ROWS))}",
        "CREATE TABLE storm_log (number INT AUTO_INCREMENT PRIMARY KEY, thread INT, step INT) ENGINE=InnoDB",
    )


def storm(url: str, threads: int, seconds: float, seed: int = 1, *, ends_by_kill: bool = False) -> Storm:
    """Raises Harm: a wait that reached the time limit, or a thread that does not end."""
    result, lock, failures = Storm(), threading.Lock(), list[str]()
    deadline = time.monotonic() + seconds

    def commit(connection: Any, chance: random.Random, thread: int, step: int) -> None:
        added: Counter[int] = Counter()
        deadlocks = until_committed(connection, lambda: _transaction(connection, chance, thread, step, added))
        with lock:
            result.commits += 1
            result.deadlocks += deadlocks
            result.added.update(added)
            result.acknowledged[thread] = step

    def work(thread: int) -> None:
        chance = random.Random(f"{seed}/{thread}")
        step = 0
        try:
            with closing(connect(url)) as connection:
                while time.monotonic() < deadline:
                    step += 1
                    commit(connection, chance, thread, step)
        except mariadb.Error as error:
            if ends_by_kill and error.errno != TIMED_OUT:
                with lock:
                    result.lost += 1
            else:
                failures.append(f"thread {thread}, step {step}: {error}")

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds + 90)
        if worker.is_alive():
            failures.append("a thread does not end")
    if failures:
        raise Harm("; ".join(failures[:5]))
    return result


def _transaction(connection: Any, chance: random.Random, thread: int, step: int, added: Counter[int]) -> None:
    added.clear()
    for _ in range(chance.randint(2, 4)):
        row = 10 * chance.randrange(ROWS)
        action = chance.random()
        if action < 0.5:
            amount = chance.randint(1, 9)
            run(connection, f"UPDATE storm SET v = v + {amount} WHERE id = {row}")
            added[row] += amount
        elif action < 0.75:
            run(connection, f"SELECT v FROM storm WHERE id = {row} LOCK IN SHARE MODE")
        elif action < 0.85:
            run(connection, f"SELECT count(*) FROM storm WHERE id BETWEEN {row} AND {row + 25} FOR UPDATE")
        else:  # into a gap that others may hold, and out again
            key = row + 1 + thread % 9
            run(connection, f"INSERT IGNORE INTO storm VALUES ({key}, 0, {step % 3})")
            run(connection, f"DELETE FROM storm WHERE id = {key}")
    run(connection, f"INSERT INTO storm_log (thread, step) VALUES ({thread}, {step})")


def check(url: str, result: Storm) -> None:
    """Compare the tables with the commits that returned. Raises Harm."""
    sums = {row: int(v) for row, v in execute(url, "SELECT id, v FROM storm WHERE id % 10 = 0 ORDER BY id")}
    expected = {10 * row: result.added[10 * row] for row in range(ROWS)}
    if not result.lost and sums != expected:
        raise Harm(f"rows hold {sums}; commits added {expected}")
    steps = dict(execute(url, "SELECT thread, count(*) FROM storm_log GROUP BY thread"))
    last = dict(execute(url, "SELECT thread, max(step) FROM storm_log GROUP BY thread"))
    for thread, acknowledged in result.acknowledged.items():
        # The commit that was under way when the server was killed may have happened.
        allowed = {acknowledged, acknowledged + 1} if result.lost else {acknowledged}
        if steps.get(thread, 0) not in allowed or last.get(thread, 0) != steps.get(thread, 0):
            in_table = f"{steps.get(thread, 0)}, up to step {last.get(thread)}"
            raise Harm(f"thread {thread} has {acknowledged} commits; the table has {in_table}")
