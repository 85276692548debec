"""Waits for a lock, out of PostgreSQL's log."""

from __future__ import annotations

from benchmarks.oltp_age.waits import Wait, read

LOG = """\
1795332577.290 28405 [tare oltp] LOG:  process 28405 still waiting for ShareLock on transaction 4859 after 1.089 ms
1795332577.291 28416 [tare oltp] LOG:  process 28416 still waiting for ExclusiveLock on tuple (12,15) of \
relation 16408 of database 5 after 1.003 ms
1795332577.295 28405 [tare oltp] LOG:  process 28405 acquired ShareLock on transaction 4859 after 5.515 ms
1795332577.299 28416 [tare oltp] LOG:  process 28416 acquired ExclusiveLock on tuple (12,15) of relation 16408 of \
database 5 after 8.043 ms
"""
S = 1_795_332_577_000_000_000


def test_a_wait_begins_before_its_first_line_and_ends_with_its_second() -> None:
    found = read(LOG.splitlines(keepends=True))
    assert found.granted == [
        Wait(28405, began=S + 290_500_000 - 1_089_000, took=5_515_000),
        Wait(28416, began=S + 291_500_000 - 1_003_000, took=8_043_000),
    ]
    assert found.granted[0].granted == S + 290_500_000 - 1_089_000 + 5_515_000
    assert not found.never_granted


def test_a_wait_that_is_logged_again_while_it_lasts_is_one_wait() -> None:
    first, other, *rest = LOG.splitlines()
    again = first.replace("577.290", "577.292").replace("1.089", "3.102")
    assert read([first, again, other, *rest]) == read(LOG.splitlines())


def test_a_wait_that_ends_without_its_lock_is_counted() -> None:
    told, _, granted, _ = LOG.splitlines()
    then = told.replace("4859", "4900")
    assert read([told]).never_granted == 1
    given_up = read([told, then, granted.replace("4859", "4900")])
    assert (given_up.never_granted, len(given_up.granted)) == (1, 1)


def test_locks_that_are_not_a_rows_are_counted_and_left_out() -> None:
    extension = (
        "1795332577.290 9 [tare oltp] LOG:  process 9 {} ExclusiveLock on extension of relation 16408 of database 5 "
        "after {} ms"
    )
    found = read([extension.format("still waiting for", "1.2"), extension.format("acquired", "3.4")])
    assert not found.granted
    assert found.elsewhere == {"extension": 1}


def test_other_sessions_and_other_lines_are_passed_over() -> None:
    told, *_ = LOG.splitlines()
    lines = [
        told.replace("tare oltp", "psql"),
        "1795332577.295 28405 [] LOG:  checkpoint starting: time",
        "",
        "CONTEXT: x",
    ]
    assert not read(lines).granted
    assert not read(lines).never_granted
