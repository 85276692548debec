"""Looks at a set of queries: each has its own verdict, and all share one error rate."""

from __future__ import annotations

import random

import pytest

from tare.measure.records import QE
from tare.protocol.comparison.looks import ALPHA, Claim, Question, Verdict, confidence
from tare.protocol.comparison.session_looks import ROUNDS, SessionLooks
from tare.protocol.measures import WALL
from tests.unit.protocol.qe_records import elapsed, qe

SLOWER = Claim(Question.SLOWER, 0.05)


def run(looks: SessionLooks, ratios: list[float], blocks: int = 30, noise: float = 0.004) -> int:
    """Blocks after which the run ends. One query for each ratio of candidate to baseline."""
    draw = random.Random(5)
    starts: list[int] = []
    queries: list[list[QE]] = [[] for _ in range(3 * len(ratios))]
    index = 0
    for number in range(blocks):
        starts.append(index)
        for _ in range(ROUNDS):
            for place, own in enumerate(queries):
                ratio = ratios[place // 3] if place % 3 == 1 else 1.0
                wall = 50 * ratio * (1 + draw.gauss(0, noise))
                own.append(qe(index, query=place, elapsed=elapsed(wall, wall / 2)))
                index += 1
            if looks.enough(starts, queries):
                return number + 1
    return blocks


def test_each_query_is_judged_and_the_slower_one_decides() -> None:
    looks = SessionLooks(WALL, SLOWER, most_s=1e9)
    assert run(looks, [1.0, 1.2, 0.9]) < 30
    assert [found.verdict for found in looks.latest] == [
        Verdict.NOT_SLOWER,
        Verdict.SLOWER,
        Verdict.NOT_SLOWER,
    ]


def test_all_must_be_fast_enough() -> None:
    looks = SessionLooks(WALL, SLOWER, most_s=1e9)
    run(looks, [1.0, 0.99])
    assert {found.verdict for found in looks.latest} == {Verdict.NOT_SLOWER}


def test_an_undecided_query_keeps_the_gate_open_until_its_time_is_over() -> None:
    looks = SessionLooks(WALL, SLOWER, most_s=1e9)
    assert run(looks, [1.0, 1.05], noise=0.02) == 30
    assert [found.verdict for found in looks.latest] == [Verdict.NOT_SLOWER, Verdict.UNDECIDED]


def test_a_gate_that_never_looked_has_no_verdict() -> None:
    assert SessionLooks(WALL, SLOWER, most_s=1e9).latest == []


@pytest.mark.parametrize("gates", [1, 22])
def test_gates_share_the_error_rate(gates: int) -> None:
    assert gates * sum(1 - confidence(number, gates) for number in range(1, 10_000)) <= ALPHA + 1e-12


def test_a_run_that_is_cut_short_is_looked_at_as_far_as_its_blocks_are_whole() -> None:
    looks = SessionLooks(WALL, SLOWER, most_s=1e9)
    starts: list[int] = []
    queries: list[list[QE]] = [[], [], []]
    for number in range(4 * ROUNDS + 2):
        if number % ROUNDS == 0:
            starts.append(3 * number)
        for place, own in enumerate(queries):
            wall = 50.0 + place + number / 100
            own.append(qe(3 * number + place, query=place, elapsed=elapsed(wall, wall / 2)))
        assert not looks.enough(starts, queries)
    assert looks.latest == [], "the first look comes after 6 blocks"
    looks.conclude(starts, queries)
    assert [found.blocks for found in looks.latest] == [4]
    looks.conclude(starts, queries)
    assert [found.number for found in looks.latest] == [1], "nothing new is no further look"
