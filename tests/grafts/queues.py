"""Transactions in a queue for a row's lock: known ages, known arrivals, and the order in which they are granted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from benchmarks.grafted.sessions import connect, run

ROWS = 60
HOT = 0
WAIT_S = 15.0


def make_table(url: str) -> None:
    with closing(connect(url)) as connection:
        run(connection, "DROP TABLE IF EXISTS queue")
        run(connection, "CREATE TABLE queue (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB")
        run(connection, f"INSERT INTO queue VALUES {', '.join(f'({row}, 0)' for row in range(ROWS))}")
        connection.commit()


def waiting(url: str) -> int:
    """Number of transactions that wait for a row's lock."""
    with closing(connect(url)) as connection:
        return int(run(connection, "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1])


def waiting_for_any_lock(url: str) -> int:
    """The same of rows and tables. The server renews these records after 0.1 s without a reader."""
    time.sleep(0.12)
    with closing(connect(url)) as connection:
        sql = "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        return int(run(connection, sql)[0][0])


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {WAIT_S:g} s: {what}"
        time.sleep(0.01)


class Queue:
    """Transactions by number: the lowest is the eldest. Each holds a row of its own."""

    def __init__(self, url: str, number: int) -> None:
        self.granted: list[int] = []
        self.errors: list[Exception] = []
        self._url = url
        self._threads: list[threading.Thread] = []
        self._holder = connect(url)
        run(self._holder, f"UPDATE queue SET v = v + 1 WHERE id = {HOT}")
        self.connections = [connect(url) for _ in range(number)]
        for place, connection in enumerate(self.connections):
            run(connection, f"UPDATE queue SET v = v + 1 WHERE id = {own_row(place)}")

    def arrive(
        self,
        place: int,
        sql: str = f"UPDATE queue SET v = v + 1 WHERE id = {HOT}",
        keep: threading.Event | None = None,
        count: Callable[[str], int] = waiting,
    ) -> None:
        """Return when it waits. It ends its transaction as soon as it is granted, or when `keep` is set."""
        before = count(self._url)
        self.start(place, sql, keep)
        until(lambda: count(self._url) > before, f"transaction {place} waits; {self.errors}")

    def start(self, place: int, sql: str, keep: threading.Event | None = None) -> None:
        thread = threading.Thread(target=self._wait, args=(place, sql, keep), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _wait(self, place: int, sql: str, keep: threading.Event | None) -> None:
        try:
            run(self.connections[place], sql)
            self.granted.append(place)
            if keep is not None:
                keep.wait(WAIT_S)
            self.connections[place].commit()
        except Exception as error:
            self.errors.append(error)
            self.connections[place].rollback()

    def let_go(self) -> None:
        """End the transaction that holds the lock."""
        self._holder.commit()

    def end(self) -> list[int]:
        """Order of grants, once all have ended."""
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive(), f"a waiter stayed behind; granted: {self.granted}"
        assert self.errors == []
        return self.granted

    def close(self) -> None:
        self._holder.rollback()
        for thread in self._threads:
            thread.join(WAIT_S)
        if any(thread.is_alive() for thread in self._threads):
            return  # the connector crashes if a connection is closed while it is used
        for connection in (self._holder, *self.connections):
            connection.close()


def own_row(place: int) -> int:
    return HOT + 1 + place


@contextmanager
def queue(url: str, number: int) -> Iterator[Queue]:
    made = Queue(url, number)
    try:
        yield made
    finally:
        made.close()


def order_of_grants(url: str, arrivals: Sequence[int]) -> list[int]:
    """Order in which waiters that arrive in this order are granted, each ending at once."""
    with queue(url, len(arrivals)) as made:
        for place in arrivals:
            made.arrive(place)
        made.let_go()
        return made.end()
