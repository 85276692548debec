"""Properties of every protocol over every lab.

A protocol takes a second to put its questions, whatever the number of rows. So a lab has several runs, and one analysis
of it serves all tests that need no other lab beside it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from tare.lab.answers import rows
from tare.lab.frames import Frames
from tare.protocol import run_protocol
from tare.protocol.exact.method import EXACT
from tare.protocol.outcome import Outcome
from tare.protocol.run import Analysis
from tare.protocol.ttp1.method import TTP1
from tare.protocol.ttp2.method import TTP2
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import TICK_NS
from tests.unit.protocol.random_labs import random_run

RUNS = [random_run(Random(seed)) for seed in range(2)]
FACTORS = (2, 4, 8)
QATCS = sum(len(run.qatcs) for run in RUNS)


@pytest.fixture(scope="module", params=(TTP1, TTP2, EXACT), ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def frames() -> Frames:
    return lab_of(*RUNS)


@pytest.fixture(scope="module")
def outcome(method: Any, frames: Frames) -> Outcome:
    return judged(method, frames)


def judged(method: Any, lab: Frames) -> Outcome:
    return run_protocol(lab, method.name, accept=[check.name for check in method.experiment])


def told(outcome: Outcome) -> dict[str, Any]:
    """All of an outcome that is a value, with its rows in an order of their own."""
    tables = {
        "times": sorted(rows(outcome.times), key=lambda row: row["qatc_id"]),
        "qes": sorted(rows(outcome.qes), key=lambda row: row["qe_id"]),
        "exclusions": sorted(map(repr, rows(outcome.exclusions))),
    }
    counts = {name: getattr(outcome, name) for name in ("checks", "remaining", "deviations")}
    return {**tables, **counts, "post": [(p.name, p.detail, p.reason) for p in outcome.post]}


def test_what_is_left_never_grows(outcome: Outcome) -> None:
    left = outcome.remaining
    assert left[0].qes == sum(len(qatc.qes) for run in RUNS for qatc in run.qatcs)
    for before, after in pairwise(left):
        assert (before.qes - after.qes, before.qatcs - after.qatcs) == (
            after.dropped_qes,
            after.dropped_qatcs,
        )
        assert min(after.dropped_qes, after.dropped_qatcs) >= 0


def test_the_order_of_the_rows_changes_nothing(method: Any, outcome: Outcome) -> None:
    first, second = told(outcome), told(judged(method, lab_of(*RUNS, shuffle=Random(7).shuffle)))
    for name in ("times", "qes"):
        assert [_near(row) for row in first.pop(name)] == [_near(row) for row in second.pop(name)]
    assert first == second


def _near(row: dict[str, Any]) -> dict[str, Any]:
    """Sums of fractions may differ in their last bits with the order they are added in."""
    return {key: float(f"{value:.12g}") if isinstance(value, float) else value for key, value in row.items()}


def test_the_order_of_the_later_qes_changes_no_time(method: Any, outcome: Outcome) -> None:
    """The first has a part of its own, in the check for a result cache."""
    chance = Random(7)

    def permuted(qatc: RecordedQatC) -> RecordedQatC:
        first, *later = qatc.qes
        if first.outcome.value == "ok":
            chance.shuffle(later)
        return replace(qatc, qes=[first, *later])

    others = [replace(run, qatcs=list(map(permuted, run.qatcs))) for run in RUNS]
    assert others != RUNS
    first, second = told(outcome), told(judged(method, lab_of(*others)))
    assert [_near(row) for row in first["times"]] == [_near(row) for row in second["times"]]
    assert first["remaining"] == second["remaining"]


def test_longer_ticks_make_times_longer_by_as_much(method: Any) -> None:
    plain = [replace(run, qatcs=list(map(_whole, run.qatcs))) for run in RUNS]
    longer = [_with_ticks(run, factor) for factor in FACTORS for run in plain]
    times = sorted(rows(judged(method, lab_of(*plain, *longer)).times), key=lambda row: row["qatc_id"])
    assert len(times) == QATCS * (1 + len(FACTORS))
    for place, factor in enumerate(FACTORS, 1):
        for one, other in zip(times[:QATCS], times[QATCS * place : QATCS * (place + 1)], strict=True):
            assert (one["retained"], one["step"], one["rule"]) == (
                other["retained"],
                other["step"],
                other["rule"],
            )
            for name in ("time_ms", "low_ms", "high_ms", "sd_ms", "measured_ms", "measured_sd_ms"):
                expected = None if one[name] is None else pytest.approx(one[name] * factor)
                assert other[name] == expected, name


def _with_ticks(run: RecordedRun, factor: int) -> RecordedRun:
    scaled = [_scaled(qatc, factor) for qatc in run.qatcs]
    return replace(run, tick_ns=TICK_NS * factor, qatcs=scaled)


def _whole(qatc: RecordedQatC) -> RecordedQatC:
    """The residue's bound of 1 ms and the 0.1 ms below zero do not scale: leave no residue here."""
    return replace(qatc, qes=[
        replace(qe, elapsed=replace(qe.elapsed, residue_ns=0, sleep_ns=0)) if qe.elapsed else qe
        for qe in qatc.qes
    ])  # fmt: skip


def _scaled(qatc: RecordedQatC, factor: int) -> RecordedQatC:
    def longer(of: Any, *names: str) -> Any:
        values = {name: getattr(of, name) for name in names}
        return replace(of, **{name: None if v is None else v * factor for name, v in values.items()})

    def process(p: Any) -> Any:
        return longer(p, "run_ns", "block_io_ns", "run_queue_ns")

    def qe(one: Any) -> Any:
        """Its leader's parts too: of a process with several threads they are what `exact` takes."""
        parts = ("wall_ns", "cpu_ns", "user_ns", "system_ns", "block_io_ns", "run_queue_ns")
        elapsed = one.elapsed and longer(one.elapsed, *parts)
        return replace(one, elapsed=elapsed, processes=tuple(map(process, one.processes)))

    return replace(qatc, qes=[qe(one) for one in qatc.qes])


def test_every_exclusion_names_a_rule_that_holds_on_its_row(
    method: Any, frames: Frames, outcome: Outcome
) -> None:
    """Judged again, in plain numbers, from the measures that the engine gives of that row."""
    analysis = Analysis(frames, method, 6, False)
    of_qe = {row["qe_id"]: row for row in rows(analysis.at_start)}
    of_qatc = {row["qatc_id"]: row for row in rows(analysis.qatcs)}
    rules = {
        (step.name, check.name): check
        for step in (*method.drops, *method.qatc_drops)
        for check in step.checks
    }  # fmt: skip
    excluded = rows(outcome.exclusions)
    for row in excluded:
        if row["rule"] == "no QE is left":
            assert of_qatc[row["qatc_id"]]["retained_qes"] == 0
            continue
        measures = of_qe[row["qe_id"]] if row["level"] == "qe" else of_qatc[row["qatc_id"]]
        assert rules[row["step"], row["rule"]].verdict(measures) == row["evidence"]
    dropped_qes = {row["qe_id"] for row in rows(outcome.qes) if not row["retained"]}
    assert {row["qe_id"] for row in excluded if row["level"] == "qe"} == dropped_qes
    dropped_qatcs = {row["qatc_id"] for row in rows(outcome.times) if not row["retained"]}
    assert {row["qatc_id"] for row in excluded if row["level"] == "qatc"} == dropped_qatcs
