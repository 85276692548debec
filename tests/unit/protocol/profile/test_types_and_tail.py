"""Inherent and avoidable variance, and what the longest transactions have that others have not."""

from __future__ import annotations

import numpy as np
import pytest

from tare.errors import TooFewTransactions
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.types import NO_LABEL, OTHERS, types_of
from tests.unit.protocol.profile.made import made, microseconds

N = 2_000


def test_types_that_say_nothing_are_put_together() -> None:
    labels = [1] * 50 + [2] * 30 + [0] * 15 + [7, 8, 9]
    measured = made(
        {"A": list(range(98))}, labels=labels, texts={1: "SELECT 1", 2: "SELECT 2", 7: "A", 8: "B", 9: "C"}
    )
    found = types_of(measured)
    assert found.names == ("SELECT 1", "SELECT 2", NO_LABEL, OTHERS)
    assert found.labels == (1, 2, 0, 0)
    assert np.bincount(found.of).tolist() == [50, 30, 15, 3]


def test_a_rare_type_that_is_alone_keeps_its_name_and_an_unknown_one_goes_by_its_number() -> None:
    found = types_of(made({"A": list(range(22))}, labels=[171] * 20 + [7] * 2, texts={7: "payment"}))
    assert (found.names, found.labels) == (("(type 00000ab)", "payment"), (171, 7))


def two_types() -> dict[str, np.ndarray]:
    """Every second transaction has ten times the work; both wait for a lock by chance."""
    random = np.random.default_rng(1)
    work = np.where(np.arange(N) % 2, 1_000.0, 100.0) + random.normal(0, 5, N)
    return {"A/work": microseconds(work), "A/lock": microseconds(random.normal(300, 60, N))}


LABELS = [1 + t % 2 for t in range(N)]
TEXTS = {1: "SELECT a", 2: "UPDATE b"}


def test_variance_between_types_is_inherent_and_taken_out_what_is_left_is_the_lock() -> None:
    measured = made(two_types(), labels=LABELS, texts=TEXTS)
    all_, within = analyse(measured, replicates=200), analyse(measured, within=True, replicates=200)
    assert all_.between_types == pytest.approx(450**2 / (450**2 + 60**2 + 25), abs=0.01)
    assert all_.factors[0].names == ("work",)
    assert within.factors[0].names == ("lock",)
    assert within.factors[0].share.value > 0.95
    assert within.factors[0].share.low < within.factors[0].share.value < within.factors[0].share.high
    assert [(one.name, one.transactions) for one in all_.kinds] == [("SELECT a", 1000), ("UPDATE b", 1000)]


def test_within_types_the_variance_is_that_around_each_types_mean() -> None:
    """20 transactions, each 1 from its type's mean: 20 / (20 - 2)."""
    own = {"A": [1, 3] * 5 + [101, 103] * 5}
    found = analyse(made(own, labels=[1] * 10 + [2] * 10, texts=TEXTS), within=True, replicates=20)
    assert found.nodes[1].sd_ns ** 2 == pytest.approx(20 / 18)
    assert found.nodes[1].variance.value == pytest.approx(1)


def test_one_type_alone_can_be_looked_at() -> None:
    measured = made(two_types(), labels=LABELS, texts=TEXTS)
    found = analyse(measured, type_="UPDATE b", replicates=50)
    assert found.transactions == 1000
    assert found.factors[0].names == ("lock",)
    assert found.between_types == 0
    with pytest.raises(TooFewTransactions) as refusal:
        analyse(measured, type_="DELETE")
    assert "SELECT a; UPDATE b" in refusal.value.next_step


def test_types_that_differ_by_chance_alone_have_nothing_between_them() -> None:
    random = np.random.default_rng(2)
    measured = made(
        {"A": random.exponential(1e5, 600).astype(int)},
        labels=list(1 + random.integers(0, 40, 600)),
        texts={label: f"SELECT {chr(64 + label // 8)}{chr(64 + label % 8)}" for label in range(1, 41)},
    )
    assert analyse(measured, replicates=10).between_types < 0.05


def test_the_tail_names_what_the_longest_transactions_waited_for() -> None:
    """Most varies by parsing; the longest 1% were caught by a checkpoint."""
    random = np.random.default_rng(3)
    caught = np.zeros(N, dtype=np.int64)
    caught[random.choice(N, 20, replace=False)] = 900_000
    found = analyse(
        made({"A/parse": microseconds(random.normal(400, 20, N)), "A/flush": caught}), replicates=100
    )
    assert found.tail[0].name == "flush"
    assert found.tail[0].excess.value == pytest.approx(1, abs=0.05)
    assert sum(one.excess.value for one in found.tail) == pytest.approx(1)
    assert found.tail[0].mean_ns < 1000
    assert found.tail[0].tail_ns == pytest.approx(900_000, rel=0.01)


def test_with_few_transactions_there_is_no_tail_to_speak_of() -> None:
    assert analyse(made({"A": list(range(100))}), replicates=10).tail == ()
