"""The order in which a grafted MySQL grants a row's lock, by policy."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from benchmarks.grafted.sessions import connect, run

from tare.dbms.servers import RunningServer
from tare.grafts import server
from tests.grafts.queues import (
    HOT,
    make_table,
    order_of_grants,
    own_row,
    queue,
    until,
    waiting,
    waiting_for_any_lock,
)

ARRIVALS = [5, 2, 7, 0, 4, 1, 6, 3]
SHARED = f"SELECT v FROM queue WHERE id = {HOT} LOCK IN SHARE MODE"


@pytest.fixture
def url(lock_order: RunningServer) -> str:
    make_table(lock_order.url)
    server.switch(lock_order.directory, "first-come")
    return lock_order.url


def test_first_come_grants_in_the_order_of_arrival(url: str, lock_order: RunningServer) -> None:
    assert order_of_grants(url, ARRIVALS) == ARRIVALS


@pytest.mark.parametrize("policy", ["eldest", "eldest-strict"])
def test_eldest_grants_in_the_order_of_age(url: str, lock_order: RunningServer, policy: str) -> None:
    server.switch(lock_order.directory, policy)
    assert order_of_grants(url, ARRIVALS) == sorted(ARRIVALS)


def test_random_grants_in_another_order_each_time(url: str, lock_order: RunningServer) -> None:
    server.switch(lock_order.directory, "random")
    orders = {tuple(order_of_grants(url, ARRIVALS)) for _ in range(4)}
    assert len(orders) == 4
    assert all(sorted(order) == sorted(ARRIVALS) for order in orders)


def test_choices_are_counted_and_compared_with_both_orders(url: str, lock_order: RunningServer) -> None:
    """8 waiters: 7 grants have a choice, among 8, 7, … 2 waiters."""
    before = server.status(lock_order.directory)[1]
    order_of_grants(url, ARRIVALS)
    first_come = server.status(lock_order.directory)[1]
    server.switch(lock_order.directory, "eldest")
    order_of_grants(url, ARRIVALS)
    eldest = server.status(lock_order.directory)[1]
    counts = first_come.since(before), eldest.since(first_come)
    assert [each["choices"] for each in counts] == [7, 7]
    assert [each["waiters"] for each in counts] == [35, 35]
    assert [each["overtakes"] for each in counts] == [0, 6]
    assert [each["younger first"] for each in counts] == [5, 0]
    assert all(0 < each["time"] < 1_000_000_000 for each in counts)


def test_the_transaction_that_most_wait_for_goes_first(url: str, lock_order: RunningServer) -> None:
    """Transactions 0, 1 and 2 arrive in this order; none, two and one others wait for them."""
    server.switch(lock_order.directory, "dependents")
    assert dependents(url) == [1, 2, 0]


def test_age_power_weighs_ages_of_dependents(url: str, lock_order: RunningServer) -> None:
    """p = 1 counts dependents; with a large p the eldest alone decides."""
    server.switch(lock_order.directory, "age-power", 1)
    assert dependents(url) == [1, 2, 0]
    server.switch(lock_order.directory, "age-power", 16)
    assert dependents(url) == [0, 1, 2]


def dependents(url: str) -> list[int]:
    with queue(url, 6) as made:
        for place in (0, 1, 2):
            made.arrive(place)
        for place, holder in ((3, 1), (4, 1), (5, 2)):
            made.arrive(place, f"UPDATE queue SET v = v + 1 WHERE id = {own_row(holder)}")
        made.let_go()
        return [place for place in made.end() if place < 3]


def test_eldest_grants_all_that_are_compatible_and_strict_the_eldest_alone(
    url: str, lock_order: RunningServer
) -> None:
    granted = {}
    for policy in ("eldest", "eldest-strict"):
        server.switch(lock_order.directory, policy)
        keep = threading.Event()
        with queue(url, 4) as made:
            for place in (2, 0, 3, 1):
                made.arrive(place, SHARED, keep)
            made.let_go()
            until(lambda made=made: bool(made.granted), "a grant")  # type: ignore[misc]
            until(
                lambda policy=policy: waiting(url) == {"eldest": 0, "eldest-strict": 3}[policy], "the others"
            )  # type: ignore[misc]
            granted[policy] = list(made.granted)
            keep.set()
            made.end()
    assert sorted(granted["eldest"]) == [0, 1, 2, 3]
    assert granted["eldest-strict"] == [0]


def test_a_waiter_that_strict_withholds_is_granted_when_the_eldest_begins_to_wait(
    url: str, lock_order: RunningServer
) -> None:
    """Else they would be in a deadlock that the server does not see: 1 waits for 0, and 0 for a row of 1's."""
    server.switch(lock_order.directory, "eldest-strict")
    before = server.status(lock_order.directory)[1]
    with queue(url, 2) as made:
        made.arrive(1, SHARED)
        made.arrive(0, f"{SHARED} UNION ALL SELECT v FROM queue WHERE id = {own_row(1)} LOCK IN SHARE MODE")
        made.let_go()
        assert sorted(made.end()) == [0, 1]
    counts = server.status(lock_order.directory)[1].since(before)
    assert (counts["withheld"], counts["released"]) == (1, 1)


def test_an_elder_exclusive_waiter_keeps_younger_shared_ones_back(
    url: str, lock_order: RunningServer
) -> None:
    """The eldest wants the row exclusively, and arrives between younger transactions that want to share it."""
    server.switch(lock_order.directory, "eldest")
    keep = threading.Event()
    with queue(url, 4) as made:
        made.arrive(1, SHARED, keep)
        made.arrive(0)
        made.arrive(3, SHARED)
        made.arrive(2, SHARED, keep)
        made.let_go()
        until(lambda: made.granted == [0] or len(made.granted) == 4, "grants")
        keep.set()
        assert made.end()[0] == 0


def test_a_table_lock_goes_to_the_eldest(url: str, lock_order: RunningServer) -> None:
    """INSERT … SELECT locks the table until it ends, to draw numbers of AUTO_INCREMENT."""
    server.switch(lock_order.directory, "eldest")
    before = server.status(lock_order.directory)[1]
    assert numbers(url, [2, 0, 1]) == [0, 1, 2]
    assert server.status(lock_order.directory)[1].since(before)["overtakes"] == 2
    server.switch(lock_order.directory, "first-come")
    assert numbers(url, [2, 0, 1]) == [2, 0, 1]


def numbers(url: str, arrivals: list[int]) -> list[int]:
    """Transactions in the order of the numbers that they drew."""
    with closing(connect(url)) as admin:
        run(admin, "DROP TABLE IF EXISTS numbered")
        run(admin, "CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB")
    with queue(url, 4) as made:
        made.start(
            3, "INSERT INTO numbered (v) SELECT id + IF(id = 51, SLEEP(3), 0) FROM queue WHERE id IN (50, 51)"
        )
        until(lambda: bool(drawn(url)), "the first number")
        for place in arrivals:
            made.arrive(
                place,
                f"INSERT INTO numbered (v) SELECT {place} FROM queue WHERE id = {own_row(place)}",
                count=waiting_for_any_lock,
            )
        made.let_go()
        made.end()
    return [v for v in drawn(url) if v in arrivals]


def drawn(url: str) -> list[int]:
    with closing(connect(url)) as reader:
        run(reader, "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        return [v for (v,) in run(reader, "SELECT v FROM numbered ORDER BY id")]
