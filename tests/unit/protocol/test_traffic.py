"""Repeated contents of messages: planted cases exactly, and what holds for any traffic."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.protocol.traffic import (
    WINDOWS_MS,
    Count,
    Potential,
    Send,
    common_sizes,
    copy_gaps,
    counted,
    destination_shares,
    injection_gaps,
    is_encrypted,
    is_http,
    multicast_potential,
    quantile,
    size_histogram,
    traffic_matrix,
    window_curve,
)

MS = 1_000_000


def send(at_ms: float, receiver: str, content: int | None = 1, size: int = 100, sender: str = "n0") -> Send:
    return Send(round(at_ms * MS), sender, receiver, size, content, "")


SENDS = st.lists(
    st.builds(
        Send,
        at_ns=st.integers(0, 200 * MS),
        sender=st.sampled_from(["n0", "n1"]),
        receiver=st.sampled_from(["a", "b", "c"]),
        bytes=st.sampled_from([56, 4000]),
        hash=st.sampled_from([None, 1, 2]),
        head=st.just(""),
    ),
    max_size=40,
)


@st.composite
def once_each(draw: st.DrawFn) -> list[Send]:
    """Messages, none of which repeats a content to the same receiver."""
    keys = draw(st.sets(st.tuples(st.integers(1, 3), st.integers(0, 5)), max_size=18))
    return [send(draw(st.integers(0, 150_000)) / 1000, f"n{to}", content) for content, to in sorted(keys)]


# Planted ------------------------------------------------------------------------------
@pytest.mark.parametrize("receivers", [1, 2, 3, 7])
def test_one_content_to_k_receivers_needs_one_message_of_k(receivers: int) -> None:
    found = multicast_potential(send(to, f"n{to}") for to in range(receivers))
    assert found.multicast == Count(receivers - 1, 100 * (receivers - 1))
    shares = found.multicast.shares(found.total)
    assert shares == ((receivers - 1) / receivers, (receivers - 1) / receivers)
    assert found.cache == Count()


def test_a_repeat_to_the_same_receiver_is_for_a_cache_not_for_multicast() -> None:
    found = multicast_potential([send(0, "a"), send(1, "a"), send(2, "a")])
    assert (found.multicast.messages, found.cache.messages, found.both.messages) == (0, 2, 2)


def test_a_repeat_next_to_copies_leaves_the_copies_saved() -> None:
    found = multicast_potential([send(0, "a"), send(1, "b"), send(2, "b"), send(3, "b")])
    assert (found.multicast.messages, found.cache.messages, found.both.messages) == (1, 2, 3)


def test_two_rounds_of_a_broadcast_are_two_multicasts() -> None:
    rounds = [send(10 * turn + to, f"n{to}") for turn in range(2) for to in range(4)]
    found = multicast_potential(rounds)
    assert (found.multicast.messages, found.cache.messages, found.both.messages) == (6, 4, 7)
    assert window_curve(rounds, [5])[0].messages == 6


def test_equal_contents_of_other_senders_lengths_or_hashes_are_no_copies() -> None:
    others = [send(0, "a"), send(1, "b", sender="n1"), send(2, "c", size=101), send(3, "d", content=2)]
    assert multicast_potential(others).both == Count()


def test_messages_without_a_hash_are_counted_apart() -> None:
    found = multicast_potential([send(0, "a", None), send(1, "b", None), send(2, "a"), send(3, "b")])
    assert found == Potential(Count(4, 400), Count(2, 200), Count(1, 100), Count(), Count(1, 100))


def test_bytes_count_by_the_lengths_of_the_saved() -> None:
    sends = [send(0, "a", 1, 56), send(1, "b", 1, 56), send(2, "a", 2, 4000), send(3, "b", 2, 4000)]
    found = multicast_potential(sends)
    assert (found.multicast, found.total) == (Count(2, 4056), Count(4, 8112))


def test_potentials_of_executions_add_up() -> None:
    one = multicast_potential([send(0, "a"), send(1, "b")])
    assert one + one == Potential(Count(4, 400), Count(), Count(2, 200), Count(), Count(2, 200))
    assert Count().shares(Count()) is None


# Windows ------------------------------------------------------------------------------
def test_a_window_ends_and_the_next_message_opens_another() -> None:
    sends = [send(at, f"n{at}") for at in range(6)]
    assert [count.messages for count in window_curve(sends, (0.9, 1, 2, 4.9, 5))] == [0, 3, 4, 4, 5]


def test_a_window_takes_one_message_for_each_receiver() -> None:
    sends = [send(0, "a"), send(1, "a"), send(2, "b"), send(3, "b")]
    assert window_curve(sends, [10]) == (Count(1, 100),)


def test_the_order_in_which_messages_were_recorded_changes_nothing() -> None:
    sends = [send(at, f"n{at}") for at in range(6)]
    mixed = Random(3).sample(sends, len(sends))
    assert window_curve(mixed) == window_curve(sends)
    assert copy_gaps(mixed).tolist() == [MS] * 5


@given(once_each())
def test_a_longer_window_saves_no_less_where_no_content_is_repeated(sends: list[Send]) -> None:
    saved = [count.messages for count in window_curve(sends)]
    assert all(shorter <= longer for shorter, longer in itertools.pairwise(saved))
    assert window_curve(sends, [200]) == (multicast_potential(sends).multicast,)


@given(SENDS)
def test_no_window_saves_more_than_the_bound(sends: list[Send]) -> None:
    bound = multicast_potential(sends).multicast
    for saved in window_curve(sends, (*WINDOWS_MS, 1000.0)):
        assert saved.messages <= bound.messages
        assert saved.bytes <= bound.bytes


@given(SENDS)
def test_parts_stay_within_the_whole(sends: list[Send]) -> None:
    found = multicast_potential(sends)
    assert found.total == counted(sends)
    assert max(found.multicast.messages, found.cache.messages) <= found.both.messages
    assert found.both.messages <= found.multicast.messages + found.cache.messages
    assert found.both.messages + found.unhashed.messages <= found.total.messages


# Distributions ------------------------------------------------------------------------
def test_gaps_lead_to_the_latest_copy_to_another_receiver() -> None:
    sends = [send(0, "a"), send(3, "a"), send(5, "b"), send(9, "a"), send(20, "c"), send(1, "b", 2)]
    assert copy_gaps(sends).tolist() == [2 * MS, 4 * MS, 11 * MS]


def test_gaps_between_messages_are_those_of_each_sender() -> None:
    sends = [send(5, "a", 1), send(0, "b", 2), send(7, "a", 3, sender="n1"), send(1, "c", 4)]
    gaps = injection_gaps(sends)
    assert {sender: found.tolist() for sender, found in gaps.items()} == {"n0": [MS, 4 * MS], "n1": []}


def test_a_quantile_is_a_value_that_occurred() -> None:
    gaps = copy_gaps([send(at, f"n{at}") for at in (0, 1, 3, 7, 15)])
    assert [quantile(gaps, share) for share in (0, 0.25, 0.5, 0.75, 1)] == [MS, MS, 2 * MS, 4 * MS, 8 * MS]
    assert quantile(copy_gaps([]), 0.5) is None


def test_sizes_are_counted_by_power_of_two_and_by_frequency() -> None:
    sends = [send(0, "a", None, size) for size in (0, 1, 56, 56, 63, 64, 4000)]
    assert size_histogram(sends) == ((-1, 1), (0, 1), (5, 3), (6, 1), (11, 1))
    assert common_sizes(sends, 2) == ((56, 2), (0, 1))


def test_destinations_are_shares_of_each_sender() -> None:
    sends = [send(0, "a"), send(1, "a"), send(2, "b", size=300), send(3, "a", sender="n1")]
    matrix = traffic_matrix(sends)
    assert matrix[("n0", "b")] == Count(1, 300)
    assert destination_shares(matrix) == {"n0": {"a": 2 / 3, "b": 1 / 3}, "n1": {"a": 1.0}}


@pytest.mark.parametrize(
    ("head", "encrypted", "http"),
    [
        ("1703030045aabbcc", True, False),
        ("160301", True, False),
        ("1603040000", False, False),
        ("170302", False, False),
        (b"HTTP/1.1".hex(), False, True),
        (b"GET /v1/".hex(), False, True),
        (b"GETX".hex(), False, False),
        (b"DELETE /".hex().upper(), False, True),
        ("", False, False),
    ],
)
def test_kinds_are_told_apart_by_first_bytes(head: str, encrypted: bool, http: bool) -> None:
    assert (is_encrypted(head), is_http(head)) == (encrypted, http)
