"""Each wait is put to the transaction in which it lies, by processes and connections that do not name each other."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from benchmarks.oltp_age.looks import LOOKS, columns
from benchmarks.oltp_age.owners import Records, match
from benchmarks.oltp_age.waits import Wait

from tare.workload.oltp.samples import RECORD

MS = 1_000_000
CONNECTIONS = 8


def busy_connections(draw: random.Random, transactions: int = 200) -> Records:
    """Each sends its next when the last has ended, as in a closed loop."""
    rows = []
    for connection in range(CONNECTIONS):
        now = 10 * MS
        for _ in range(transactions):
            ended = now + draw.randint(10, 60) * MS
            rows.append((0, 0, 1, connection, 0, now - 3 * MS, now, ended))
            now = ended + 20_000
    return np.array(rows, RECORD)


def waits_within(sent: Records, draw: random.Random) -> Iterator[Wait]:
    """A wait for each transaction; the number of a process is that of its connection plus 1000."""
    for one in sent:
        began, ended = int(one["started"]) + draw.randint(0, 5) * MS, int(one["ended"])
        yield Wait(1000 + int(one["connection"]), began, draw.randint(1, ended - began))


def test_every_process_finds_its_connection_though_all_are_always_busy() -> None:
    draw = random.Random(1)
    sent = busy_connections(draw)
    waits = list(waits_within(sent, draw))
    draw.shuffle(waits)
    found = match(waits, sent)
    assert found.connections == {1000 + number: number for number in range(CONNECTIONS)}
    assert (len(found.owned), found.outside, found.unowned) == (len(waits), 0, 0)
    for one in found.owned:
        assert one.transaction["started"] <= one.wait.began
        assert one.wait.granted <= one.transaction["ended"]


def test_a_process_with_too_few_waits_to_tell_is_left_out_and_counted() -> None:
    draw = random.Random(2)
    sent = busy_connections(draw)
    found = match([wait for wait in waits_within(sent, draw) if wait.pid == 1000][:3], sent)
    assert (found.processes, len(found.connections), found.unowned) == (1, 0, 3)


def test_two_processes_that_fit_the_same_connection_are_both_left_out() -> None:
    draw = random.Random(3)
    sent = busy_connections(draw)
    mine = [wait for wait in waits_within(sent, draw) if wait.pid == 1004]
    found = match([*mine, *(Wait(7, wait.began, wait.took) for wait in mine)], sent)
    assert not found.connections
    assert found.unowned == 2 * len(mine)


def test_a_process_whose_waits_fit_no_connection_is_left_out() -> None:
    draw = random.Random(4)
    sent = busy_connections(draw)
    astray = [Wait(1000, draw.randint(10, 5000) * MS, 70 * MS) for _ in range(100)]
    assert match(astray, sent).unowned == 100


def test_age_and_remaining_time_are_of_the_instant_that_the_look_names() -> None:
    draw = random.Random(5)
    sent = busy_connections(draw)
    owned = match(list(waits_within(sent, draw)), sent).owned
    of = columns(owned)
    looks = {look.name: look.ms(of) for look in LOOKS}
    age, remaining = looks["at its coming to the queue"]
    np.testing.assert_allclose(age + remaining, (of.ended - of.started) / MS)
    at_the_grant = looks["at the grant"]
    np.testing.assert_allclose(at_the_grant[0] - age, (of.granted - of.began) / MS)
    since_due, _ = looks["the same, age from when it was due"]
    np.testing.assert_allclose(since_due - age, 3.0)


def test_of_several_waits_of_a_transaction_the_first_is_one() -> None:
    draw = random.Random(6)
    sent = busy_connections(draw)
    waits = list(waits_within(sent, draw))
    twice = [*waits, *(Wait(wait.pid, wait.granted, 1) for wait in waits)]
    of = columns(match(twice, sent).owned)
    assert len(of.kind) == 2 * len(sent)
    assert of.transactions == len(sent)
    assert sorted(of.first.began) == sorted(wait.began for wait in waits)
