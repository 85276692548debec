"""Random SQL on a grafted server and on one without: equal answers.

A round has a burst of concurrent transactions, whose effects do not depend on their order, and then statements of a
single session. Both servers get the same, and every answer is compared.
"""

from __future__ import annotations

import random
import threading
from contextlib import closing
from typing import Any

import mariadb

from benchmarks.grafted import Harm
from benchmarks.grafted.sessions import connect, execute, run, until_committed

KEYS = 40
THREADS = 8
TRANSACTIONS = 5  # of each thread in a burst
STATEMENTS = 25
TABLE = (
    "CREATE TABLE {} (id INT PRIMARY KEY, grp INT NOT NULL, v BIGINT NOT NULL, txt VARCHAR(40), KEY (grp)) "
    "ENGINE=InnoDB"
)


def make_tables(url: str) -> None:
    rows = ", ".join(f"({key}, {key % 7}, 0, 'row {key}')" for key in range(KEYS))
    execute(url, "DROP TABLE IF EXISTS twin_a, twin_b", TABLE.format("twin_a"), TABLE.format("twin_b"))
    execute(url, f"INSERT INTO twin_a VALUES {rows}", f"INSERT INTO twin_b VALUES {rows}")


def compare_round(grafted: str, alone: str, seed: int) -> int:
    """Number of answers that were compared. Raises Harm at the first that differs."""
    for url in (grafted, alone):
        _burst(url, seed)
    compared = 0
    chance = random.Random(f"statements {seed}")
    with closing(connect(grafted, autocommit=True)) as one, closing(connect(alone, autocommit=True)) as other:
        for sql in (*_contents(), *(_statement(chance) for _ in range(STATEMENTS)), *_contents()):
            answers = _answer(one, sql), _answer(other, sql)
            compared += 1
            if answers[0] != answers[1]:
                raise Harm(f"seed {seed}, {sql}: {answers[0]} with the graft, {answers[1]} without")
    return compared


def _contents() -> tuple[str, ...]:
    return tuple(f"SELECT * FROM twin_{name} ORDER BY id" for name in "ab")


def _answer(connection: Any, sql: str) -> object:
    try:
        return run(connection, sql)
    except mariadb.Error as error:
        return error.errno


def _burst(url: str, seed: int) -> None:
    failures: list[str] = []

    def work(thread: int) -> None:
        chance = random.Random(f"burst {seed}/{thread}")
        try:
            with closing(connect(url)) as connection:
                for _ in range(TRANSACTIONS):
                    statements = [_commuting(chance, thread) for _ in range(chance.randint(2, 5))]
                    until_committed(connection, lambda todo=statements: _all(connection, todo))  # type: ignore[misc]
        except mariadb.Error as error:
            failures.append(f"{url}, thread {thread}: {error}")

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        if worker.is_alive():
            failures.append(f"{url}: a thread does not end")
    if failures:
        raise Harm("; ".join(failures))


def _all(connection: Any, statements: list[str]) -> None:
    for sql in statements:
        run(connection, sql)


def _commuting(chance: random.Random, thread: int) -> str:
    """A statement whose effect does not depend on what other threads do before it."""
    table, key, amount = f"twin_{chance.choice('ab')}", chance.randrange(KEYS), chance.randint(-9, 9)
    own = 1000 + 10 * thread + chance.randrange(4)
    return chance.choice(
        (
            f"UPDATE {table} SET v = v + {amount} WHERE id = {key}",
            f"UPDATE {table} SET v = v + {amount} WHERE grp = {key % 7} AND id < {KEYS}",
            f"INSERT INTO {table} VALUES ({own}, 90, 1, 'own') ON DUPLICATE KEY UPDATE v = v + 1",
            f"DELETE FROM {table} WHERE id = {own}",
            f"SELECT v FROM {table} WHERE id = {key} FOR UPDATE",
            f"SELECT sum(v) FROM {table} WHERE id BETWEEN {key} AND {key + 5} LOCK IN SHARE MODE",
        )
    )


def _statement(chance: random.Random) -> str:
    table, other = chance.sample(("twin_a", "twin_b"), 2)
    key, amount = chance.randrange(KEYS + 5), chance.randint(1, 99)
    return chance.choice(
        (
            f"SELECT grp, count(*), sum(v), max(txt) FROM {table} GROUP BY grp ORDER BY grp",
            f"SELECT a.id, a.v - b.v FROM {table} a JOIN {other} b USING (id) WHERE a.grp <> {key % 7} ORDER BY a.id",
            f"SELECT id FROM {table} WHERE v > (SELECT avg(v) FROM {other}) ORDER BY v DESC, id LIMIT {amount}",
            f"SELECT a.id FROM {table} a LEFT JOIN {other} b ON a.id = b.id WHERE b.id IS NULL ORDER BY 1",
            f"UPDATE {table} SET txt = concat('u', {amount}), v = v + {amount} WHERE id % 5 = {key % 5}",
            f"UPDATE {table} a JOIN {other} b ON a.id = b.id SET a.v = b.v WHERE a.id = {key}",
            f"REPLACE INTO {table} VALUES ({key}, {key % 7}, {amount}, 'replaced')",
            f"INSERT INTO {table} VALUES ({key}, 1, 1, 'new')",
            f"DELETE FROM {table} WHERE id = {KEYS + key}",
            f"INSERT IGNORE INTO {table} SELECT id + {100 * amount}, grp, v, txt FROM {other} WHERE id < {key % 3}",
            f"DELETE FROM {table} WHERE id BETWEEN 100 AND 999999",
            f"ALTER TABLE {table} ENGINE=InnoDB",
        )
    )
