"""A verdict on CPU time holds with the CPU time of servers' other processes, or is not given."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tare.dbms.base import Role
from tare.measure.records import QE, Relation
from tare.protocol.compare import compare
from tare.protocol.elsewhere import Elsewhere, elsewhere
from tests.unit.protocol.qe_records import MS, elapsed, process, qe, resources

ROUNDS = 12


def side(
    cpu_ms: float,
    others_ms: float,
    wall_ms: float,
    *,
    seed: int,
    jitter: float = 0.0,
    role: Role = Role.DAEMON,
    **beside_it: Any,
) -> list[QE]:
    """Runs with 1% of noise, beside another process that uses `others_ms`, or as much more as `jitter` draws."""
    given = {"comm": "mariadbd", "relation": Relation.SHARED_SERVER, **beside_it}
    draw = random.Random(seed)
    runs = []
    for index in range(ROUNDS):
        cpu = cpu_ms * draw.gauss(1, 0.01)
        other = round(MS * (others_ms * draw.gauss(1, 0.01) + jitter * draw.random()))
        beside = process(200, role, run_ns=other, **given)
        runs.append(
            qe(index, elapsed=elapsed(wall_ms, cpu), resources=resources(cpu), processes=(process(), beside))
        )
    return runs


def judged(a: Sequence[QE], b: Sequence[QE]) -> tuple[str | None, Elsewhere | None]:
    of = [
        [one.resources.cpu_ns / MS for one in runs if one.resources and one.resources.cpu_ns]
        for runs in (a, b)
    ]
    verdict = compare(*of)
    return verdict.greater, elsewhere(a, b, verdict)


def test_work_that_another_server_does_for_b_turns_the_verdict_over() -> None:
    greater, found = judged(side(175, 0.6, 180, seed=1), side(0.5, 206, 210, seed=2))
    assert greater == "A"
    assert found is not None
    assert found.overturns
    assert found.by == ("mariadbd",)
    assert found.with_them.greater == "B"
    assert found.with_them.ratio is not None
    assert 1.1 < found.with_them.ratio.estimate < 1.25


def test_so_does_work_for_a() -> None:
    greater, found = judged(side(0.5, 206, 210, seed=2), side(175, 0.6, 180, seed=1))
    assert greater == "B"
    assert found is not None
    assert found.overturns


def test_less_work_moves_the_ratio_and_leaves_the_verdict() -> None:
    greater, found = judged(side(175, 0.6, 180, seed=1), side(10, 100, 180, seed=2))
    assert greater == "A"
    assert found is not None
    assert not found.overturns
    assert found.with_them.ratio is not None
    assert 0.55 < found.with_them.ratio.estimate < 0.7


def test_work_beside_the_one_that_costs_more_anyway_takes_nothing_away() -> None:
    assert judged(side(100, 0.5, 100, seed=1), side(200, 80, 250, seed=2)) == ("B", None)


def test_a_neighbour_that_works_beside_both_takes_nothing_away() -> None:
    """It works longer beside the one that takes longer, and at the same pace."""
    assert judged(side(50, 25, 50, seed=1), side(5, 500, 1000, seed=2)) == ("A", None)


def test_a_neighbour_that_works_at_random_takes_nothing_away() -> None:
    for seed in range(50):
        a, b = side(100, 1, 100, seed=seed, jitter=90), side(90, 1, 100, seed=100 + seed, jitter=90)
        greater, found = judged(a, b)
        assert greater == "A"
        assert found is None or not found.overturns


@pytest.mark.parametrize(
    ("counts", "beside_it"),
    [
        (True, {"relation": Relation.SHARED_SERVER, "comm": "python"}),
        (True, {"relation": Relation.UNSEEN_CLIENT}),
        (True, {"relation": None, "role": Role.UTILITY, "cmdline": "postgres: io worker 0"}),
        (False, {"relation": None, "role": Role.UTILITY, "cmdline": "postgres: u d [local] SELECT"}),
        (False, {"relation": None, "role": Role.UTILITY, "cmdline": "postgres: u d 10.0.0.7(41234) SELECT"}),
        (False, {"relation": None}),
        (False, {"relation": None, "comm": "cron"}),
        (False, {"relation": None, "role": Role.EXECUTOR}),
    ],
)
def test_only_what_may_have_worked_for_the_query_counts(counts: bool, beside_it: dict[str, Any]) -> None:
    found = judged(side(175, 0.6, 180, seed=1, **beside_it), side(0.5, 206, 210, seed=2, **beside_it))[1]
    assert (found is not None) is counts


def test_behind_a_pooler_every_server_may_have_worked_for_the_query() -> None:
    def behind(runs: list[QE]) -> list[QE]:
        pooler = process(201, Role.DAEMON, comm="pgbouncer", run_ns=MS, relation=Relation.SHARED_SERVER)
        return [dataclasses.replace(one, processes=(*one.processes, pooler)) for one in runs]

    backend = {"relation": None, "comm": "postgres", "cmdline": "postgres: u d [local] SELECT"}
    found = judged(
        behind(side(175, 0.6, 180, seed=1, **backend)), behind(side(0.5, 206, 210, seed=2, **backend))
    )[1]
    assert found is not None
    assert found.overturns


def test_two_queries_that_are_not_told_apart_have_no_verdict_to_turn() -> None:
    assert judged(side(100, 1, 100, seed=1), side(100, 90, 100, seed=2)) == (None, None)
