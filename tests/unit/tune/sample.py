"""Records of tuning runs and of searches, for what is done with them later."""

from __future__ import annotations

import itertools

import numpy as np

from tare.tune.arms import AGAIN, BASELINE
from tare.tune.record import (
    DroppedArm,
    RunRecord,
    SearchRecord,
    SearchRound,
    Tuning,
    WindowRecord,
)
from tare.tune.specification import ArmSpec, BlocksSpec, GoalSpec, LoadSpec, TuneSpecification
from tare.tune.verdicts import Objective

FACTORS = {
    BASELINE: 1.0,
    AGAIN: 1.0,
    "synchronous_commit=off": 0.5,
    "jit=off": 1.02,
    "geqo=off": 0.98,
    "fsync=off": 1.3,
}
"""Figures of each arm over the baseline's."""


def run_record(
    *, is_over: bool = False, is_stopped: bool = False, leaving: dict[str, int] | None = None
) -> RunRecord:
    return RunRecord(
        uuid="", started_at="", seed=0, windows=0, is_over=is_over, changed_regime=False,
        is_stopped=is_stopped, leaving=leaving or {}, invalid=(),
    )  # fmt: skip


def window(turn: int, block: int, arm: str, figure: float) -> WindowRecord:
    return WindowRecord(
        run=turn, block=block, arm=arm, begins_s=0, from_s=0, to_s=1, switch_ms=0, offered=100, finished=100,
        backlog=0, throughput=100 / figure, mean=figure, variance=figure, sd=figure, p50=figure, p99=figure,
        p99_9=figure, norm=figure, others=None, is_carried_over=False,
    )  # fmt: skip


def tuning(*, searched: bool = False, search_run: RunRecord | None = None, blocks: int = 12) -> Tuning:
    """A run of two arms; `searched`: the end of a search of two rounds; `search_run`: which ended in its first."""
    finalists = ("synchronous_commit=off", "jit=off")
    settings = {name: dict([name.split("=")]) for name in FACTORS if "=" in name}
    search = _search(settings, search_run) if searched or search_run else None
    is_measured = search_run is None
    return Tuning(
        number=1,
        specification=TuneSpecification(
            load=LoadSpec(workload="ycsb", rate=80.0),
            blocks=BlocksSpec(count=blocks),
            goal=GoalSpec(objectives=(Objective.VARIANCE, Objective.P99)),
            arm=tuple(ArmSpec(name=name, set=settings[name]) for name in finalists),
        ),
        url="postgresql:///tare",
        dbms="postgresql",
        version="18.4",
        online_cpus=2,
        scale=1.0,
        baseline={"synchronous_commit": "on", "jit": "on"},
        arms={BASELINE: {}, AGAIN: {}, **{name: settings[name] for name in finalists}},
        dropped=(),
        runs=(run_record(),) if is_measured else (),
        windows=_windows(0, 0, blocks, (BASELINE, AGAIN, *finalists)) if is_measured else (),
        search=search,
    )


def _search(settings: dict[str, dict[str, str]], only: RunRecord | None) -> SearchRecord:
    names = tuple(settings)
    first = SearchRound(
        arms=names,
        ended=()
        if only
        else (DroppedArm(name="fsync=off", reason="left a backlog: over capacity at this rate"),),
    )
    left = tuple(name for name in names if name != "fsync=off")
    second = SearchRound(arms=left, ended=(DroppedArm(name="geqo=off", reason="not among the best 2 of 3"),))
    windows = _windows(0, 0, 8, (BASELINE, *names))
    return SearchRecord(
        objective=Objective.VARIANCE,
        budget_s=1800.0,
        took_s=1790.0,
        candidates=settings,
        rounds=(first,) if only else (first, second),
        runs=(only,) if only else (run_record(), run_record()),
        windows=windows if only else (*windows, *_windows(1, 9, 8, (BASELINE, *left))),
    )


def _windows(turn: int, first: int, blocks: int, arms: tuple[str, ...]) -> tuple[WindowRecord, ...]:
    """A block that warms up, and the others."""
    noise = np.random.default_rng(5 + turn)
    pairs = itertools.product(range(first, first + blocks + 1), arms)
    return tuple(
        window(turn, block, arm, FACTORS[arm] * float(np.exp(noise.normal(0, 0.05)))) for block, arm in pairs
    )
