"""Messages that a multicast could have carried, offline and within a waiting time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.os.messages import (
    RECORD,
    WINDOWS_MS,
    Messages,
    Multicast,
    address,
    flows,
    is_hashed,
    multicast,
    parse,
    tls_share,
)

Sent = tuple[int, int, int, int, int]
"""Time in µs, sender, content, destination, bytes."""


def messages(*rows: Sent) -> Messages:
    table = np.zeros(len(rows), RECORD)
    for place, (time, node, content, destination, size) in enumerate(rows):
        table[place]["time"] = time * 1000
        table[place]["node"] = node
        table[place]["hash"] = content
        table[place]["destination"] = destination
        table[place]["bytes"] = table[place]["hashed"] = size
    return parse(table.tobytes())


def multicast_of(found: Messages) -> Multicast:
    return multicast([found])


def test_executions_are_judged_by_themselves() -> None:
    once = messages((0, 1, 7, 2, 100), (50, 1, 8, 3, 100))
    other = messages((900, 1, 7, 3, 100), (950, 1, 8, 3, 100))
    assert multicast([once, other]).every.saved_messages == 0, "the second execution repeats the first"
    assert multicast([once, other]).cached.saved_messages == 0
    assert multicast([once, other]).every.messages == 4


def test_a_content_for_two_destinations_needs_one_multicast() -> None:
    found = multicast_of(messages((0, 1, 7, 2, 100), (50, 1, 7, 3, 100), (60, 1, 8, 2, 1000)))
    assert (found.every.messages, found.every.saved_messages, found.every.saved_bytes) == (3, 1, 100)
    assert (found.small.saved_messages, found.large.saved_messages) == (1, 0)
    assert found.gaps_ns == [50_000]


def test_a_repetition_for_the_same_destination_saves_nothing_but_a_cache_would() -> None:
    found = multicast_of(messages((0, 1, 7, 2, 100), (50, 1, 7, 2, 100)))
    assert found.every.saved_messages == 0
    assert found.cached.saved_messages == 1


def test_each_destination_is_reached_once_by_a_multicast() -> None:
    rows = [(at, 1, 7, destination, 600) for at, destination in enumerate((2, 3, 2, 3, 2, 4))]
    assert multicast_of(messages(*rows)).every.saved_messages == 3, "three sends reach 2 three times"


def test_equal_contents_of_two_senders_are_two_messages() -> None:
    assert multicast_of(messages((0, 1, 7, 3, 100), (1, 2, 7, 4, 100))).every.saved_messages == 0


def test_copies_join_within_the_waiting_time_only() -> None:
    found = multicast_of(messages((0, 1, 7, 2, 100), (90, 1, 7, 3, 100), (600, 1, 7, 4, 100)))
    saved = {ms: saving.saved_messages for ms, saving in found.by_window.items()}
    assert saved == {0.1: 1, 0.5: 1, 1.0: 2, 5.0: 2, 20.0: 2, 100.0: 2}


def test_a_payload_that_was_not_read_whole_is_not_judged() -> None:
    found = messages((0, 1, 7, 2, 100), (1, 1, 7, 3, 100)).copy()
    found["hashed"][1] = 0
    assert is_hashed(found).tolist() == [True, False]
    assert multicast([found]).every.messages == 1


def test_flows_are_by_sender_and_destination() -> None:
    home = 0x0A4D0002
    found = flows(messages((0, 1, 1, home, 5), (1, 1, 2, home, 6), (2, 2, 3, home, 100)))
    assert [(flow.node, flow.destination, flow.messages, flow.bytes) for flow in found] == [
        (2, "10.77.0.2", 1, 100),
        (1, "10.77.0.2", 2, 11),
    ]
    assert address(home) == "10.77.0.2"


def test_encrypted_messages_are_recognised() -> None:
    found = messages((0, 1, 1, 2, 50), (1, 1, 2, 2, 50)).copy()
    found["head"][0] = b"\x17\x03\x03\x00"
    assert tls_share(found) == pytest.approx(0.5)
    assert tls_share(found[:0]) == 0.0


ROWS = st.lists(
    st.tuples(
        st.integers(0, 200_000),
        st.integers(1, 3),
        st.integers(1, 4),
        st.integers(1, 4),
        st.sampled_from([10, 600]),
    ),
    max_size=40,
)


@given(ROWS)
def test_waiting_longer_never_saves_less_and_never_more_than_the_upper_bound(rows: list[Sent]) -> None:
    rows = [(at, node, content + 10 * size, to, size) for at, node, content, to, size in rows]
    found = multicast_of(messages(*rows))
    saved = [found.by_window[ms].saved_messages for ms in WINDOWS_MS]
    assert all(n <= found.every.saved_messages for n in saved)
    assert found.small.saved_messages + found.large.saved_messages == found.every.saved_messages
