"""A gate on a set of queries: each has its own verdict, and all share one error rate."""

from __future__ import annotations

import random

import pytest

from tare.measure.records import QE
from tare.protocol.comparison.gate import ALPHA, Verdict, confidence
from tare.protocol.comparison.session_gate import ROUNDS, SessionGate
from tare.protocol.measures import WALL
from tests.unit.protocol.qe_records import elapsed, qe


def run(gate: SessionGate, ratios: list[float], blocks: int = 30, noise: float = 0.004) -> int:
    """Blocks after which the gate ends. One query for each ratio of candidate to baseline."""
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
            if gate.enough(starts, queries):
                return number + 1
    return blocks


def test_each_query_is_judged_and_the_slower_one_decides() -> None:
    gate = SessionGate(WALL, 0.05, most_s=1e9)
    assert run(gate, [1.0, 1.2, 0.9]) < 30
    assert [found.verdict for found in gate.latest] == [
        Verdict.NOT_SLOWER,
        Verdict.SLOWER,
        Verdict.NOT_SLOWER,
    ]


def test_all_must_be_fast_enough() -> None:
    gate = SessionGate(WALL, 0.05, most_s=1e9)
    run(gate, [1.0, 0.99])
    assert {found.verdict for found in gate.latest} == {Verdict.NOT_SLOWER}


def test_an_undecided_query_keeps_the_gate_open_until_its_time_is_over() -> None:
    gate = SessionGate(WALL, 0.05, most_s=1e9)
    assert run(gate, [1.0, 1.05], noise=0.02) == 30
    assert [found.verdict for found in gate.latest] == [Verdict.NOT_SLOWER, Verdict.UNDECIDED]


def test_a_gate_that_never_looked_has_no_verdict() -> None:
    assert SessionGate(WALL, 0.05, most_s=1e9).latest == []


@pytest.mark.parametrize("gates", [1, 22])
def test_gates_share_the_error_rate(gates: int) -> None:
    assert gates * sum(1 - confidence(number, gates) for number in range(1, 10_000)) <= ALPHA + 1e-12
