"""Queries of a run compared in pairs, in every measure that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.measure.choices import Blocks
from tare.protocol.compare import Comparison, Shift, compare
from tare.protocol.comparison.blocks import RatioEstimate
from tare.protocol.comparison.gate import Look
from tare.protocol.comparison.holm import holm
from tare.protocol.comparison.session_blocks import ARMS, ROUNDS, SessionGate
from tare.protocol.measures import CPU, CPU_OF_ALL, INSTRUCTIONS, WALL, Measure
from tare.protocol.statistics import Summary
from tare.protocol.stop import Stop, relative_half_width
from tare.protocol.summary import QatC
from tare.report import result as document
from tare.report.query_result import bounds

TOTAL_CPU = "resources.cpu_ms"

COMPARED: Mapping[str, Measure] = {
    WALL.name: WALL,
    CPU.name: CPU,
    TOTAL_CPU: CPU_OF_ALL,
    INSTRUCTIONS.name: INSTRUCTIONS,
}
"""Measures that are compared. The verdict is about one of them, chosen beforehand."""

LEVEL = 0.05
"""Chance of any false verdict over a set of queries."""


def compare_pairs(
    names: Sequence[str],
    summed: Sequence[QatC],
    primary: str,
    until: Stop | None,
    blocks: Blocks,
    gate: SessionGate | None = None,
) -> list[document.ComparisonResult]:
    """Compare A and B of each query: the first two of every three Q@Cs with a gate, which runs A again, else every two.

    A query whose A or B has no timed QE in the primary measure is left out. Over a set of queries the verdict holds
    for all together: Holm's correction at 5%, or the gate's own."""
    places = range(0, len(summed), arms_with(gate))
    compared = []
    for number, place in enumerate(places):
        found = _compare(names[place : place + 2], summed[place : place + 2], primary, until, blocks)
        if found is not None:
            if gate is not None and gate.latest:
                found = found.model_copy(update={"gate": gate_result(gate, gate.latest[number])})
            compared.append(found)
    if len(places) == 1:
        return compared
    corrected = holm({found.a: found.measures[primary].mann_whitney_p for found in compared})
    return [_as_one_of_many(found, corrected[found.a]) for found in compared]


def arms_with(gate: SessionGate | None) -> int:
    """Q@Cs of each query that is compared."""
    return 2 if gate is None else ARMS


def _as_one_of_many(found: document.ComparisonResult, p: float) -> document.ComparisonResult:
    differs = found.verdict == "different" and p < LEVEL
    return found.model_copy(
        update={
            "p_holm": p,
            "verdict": "different" if differs else "not distinguished",
            "greater": found.greater if differs else None,
        }
    )


def _compare(
    names: Sequence[str], summed: Sequence[QatC], primary: str, until: Stop | None, blocks: Blocks
) -> document.ComparisonResult | None:
    """None while one of the two has no timed QE in the primary measure."""
    found: dict[str, Comparison] = {}
    for name in COMPARED:
        a, b = (known(_summary(qatc, name)) for qatc in summed)
        if a and b:
            found[name] = compare(a, b)
    chosen = found.get(primary)
    if chosen is None:
        return None
    width = relative_half_width(chosen)
    reached = None
    if until is not None:
        reached = width is not None and width <= until.half_width
    return document.ComparisonResult(
        a=names[0],
        b=names[1],
        primary=primary,
        verdict=chosen.verdict,
        greater=chosen.greater,
        answers_agree=_answers_agree(summed[0], summed[1]),
        measures={name: measure_comparison(one, COMPARED[name].unit) for name, one in found.items()},
        stop=document.StopResult(rule=str(until) if until else None, reached=reached, half_width=width),
        blocks=blocks.value,
    )


def gate_result(gate: SessionGate, last: Look) -> document.GateResult:
    return document.GateResult(
        margin=gate.margin,
        verdict=last.verdict.value,
        blocks=last.blocks,
        rounds=ROUNDS,
        looks=last.number,
        change=_block_ratio(last.change),
        floor=_block_ratio(last.floor),
        blocks_needed=last.blocks_needed,
    )


def _block_ratio(estimate: RatioEstimate | None) -> document.BlockRatio | None:
    if estimate is None:
        return None
    return document.BlockRatio(
        ratio=estimate.ratio,
        low=estimate.low,
        high=estimate.high,
        confidence=estimate.confidence,
        spread=estimate.spread,
    )


def known(summary: Summary) -> list[float]:
    return [sample for sample in summary.samples if sample is not None]


def _summary(qatc: QatC, name: str) -> Summary:
    measure = COMPARED[name]
    return (qatc.resources if measure.view == "resources" else qatc.elapsed)[measure.name]


def _answers_agree(a: QatC, b: QatC) -> bool | None:
    answers = {(qe.row_count, qe.answer_hash) for qe in (*a.timed, *b.timed)}
    return None if any(hash_ is None for _, hash_ in answers) else len(answers) == 1


def measure_comparison(one: Comparison, unit: str) -> document.MeasureComparison:
    return document.MeasureComparison(
        runs=(one.runs_a, one.runs_b),
        medians=(one.median_a, one.median_b),
        difference=_shift(one.difference),
        ratio=_shift(one.ratio) if one.ratio else None,
        ratio_reason=one.ratio_reason,
        mann_whitney_p=one.p,
        a12=one.a12,
        cliffs_delta=one.cliffs_delta,
        verdict=one.verdict,
        greater=one.greater,
        unit=unit,
    )


def _shift(shift: Shift) -> document.ShiftResult:
    return document.ShiftResult(estimate=shift.estimate, ci95=bounds(shift.ci95), ci99=bounds(shift.ci99))
