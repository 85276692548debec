"""Queries of a run compared in pairs, in every measure that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tare.measure.records import QE
from tare.protocol.attribution import Attribution, Side, attribute
from tare.protocol.compare import Comparison, Shift, compare
from tare.protocol.comparison.blocks import RatioEstimate
from tare.protocol.comparison.holm import holm
from tare.protocol.comparison.looks import Look, Question, Verdict
from tare.protocol.comparison.session_looks import ARMS, ROUNDS, SessionLooks
from tare.protocol.elsewhere import Elsewhere, elsewhere
from tare.protocol.measures import CPU, CPU_OF_ALL, INSTRUCTIONS, PLANNING, PLANNING_CPU, WALL, Measure
from tare.protocol.statistics import Summary
from tare.protocol.stop import relative_half_width
from tare.protocol.summary import QatC
from tare.report import comparison_models as models
from tare.report.asked import Asked
from tare.report.query_result import bounds

TOTAL_CPU = "resources.cpu_ms"

COMPARED: Mapping[str, Measure] = {
    WALL.name: WALL,
    CPU.name: CPU,
    TOTAL_CPU: CPU_OF_ALL,
    INSTRUCTIONS.name: INSTRUCTIONS,
}
"""Measures that are compared. The verdict is about one of them, chosen beforehand."""

PLANNING_OF: Mapping[str, Measure] = {WALL.name: PLANNING, CPU.name: PLANNING_CPU, TOTAL_CPU: PLANNING_CPU}
"""The part of each measure that planning takes; none of instructions, which are counted over the whole."""


NO_RULE = models.StopResult(rule=None, reached=None, half_width=None)


LEVEL = 0.05
"""Chance of any false verdict over a set of queries."""

NOT_LOOKED = Look(number=0, blocks=0, verdict=Verdict.UNDECIDED, change=None, floor=None, blocks_needed=None)


def compare_pairs(
    names: Sequence[str], summed: Sequence[QatC], asked: Asked, looks: SessionLooks | None = None
) -> list[models.ComparisonResult]:
    """Compare A and B of each query: every two Q@Cs, or with looks, for which A runs again, the first two of every
    three.

    A query whose A or B has no timed QE in the primary measure is left out. Over a set of queries the verdicts hold
    for all together, by Holm's correction, or since the looks share their error rate."""
    assert asked.compare is not None
    places = range(0, len(summed), arms_with(looks))
    compared: list[models.ComparisonResult] = []
    p: dict[str, float] = {}
    for number, place in enumerate(places):
        pair = summed[place : place + 2]
        margin = 0.0 if looks else asked.margin or 0.0  # the looks have it
        measures = _in_every_measure(pair, margin)
        if asked.compare not in measures:
            continue
        found = _compared(names[place : place + 2], pair, measures, asked, margin)
        if looks is not None:
            found = _with_looks(found, looks, number, pair[0].timed)
        compared.append(found)
        p[found.a] = measures[asked.compare].p_of_claim
    if len(places) == 1 or (looks is not None and looks.claim.question is Question.DIFFERENT):
        return compared
    corrected = holm(p)
    return [_as_one_of_many(found, corrected[found.a]) for found in compared]


def arms_with(looks: SessionLooks | None) -> int:
    """Q@Cs of each query that is compared."""
    return 2 if looks is None else ARMS


def _as_one_of_many(found: models.ComparisonResult, p: float) -> models.ComparisonResult:
    holds = p < LEVEL
    return found.model_copy(
        update={
            "p_holm": p,
            "verdict": found.verdict if holds else "undecided",
            "greater": found.greater if holds else None,
        }
    )


def _in_every_measure(pair: Sequence[QatC], margin: float) -> dict[str, Comparison]:
    """Compare in each measure of which both have a timed QE."""
    found = {}
    for name in COMPARED:
        a, b = (known(_summary(qatc, name)) for qatc in pair)
        if a and b:
            found[name] = compare(a, b, margin=margin)
    return found


def _compared(
    names: Sequence[str],
    pair: Sequence[QatC],
    measures: Mapping[str, Comparison],
    asked: Asked,
    margin: float,
) -> models.ComparisonResult:
    assert asked.compare is not None
    a, b = pair
    chosen = measures[asked.compare]
    others = _elsewhere(a, b, chosen, margin) if asked.compare == TOTAL_CPU else None
    width = relative_half_width(chosen)
    reached = None
    if asked.until is not None:
        reached = width is not None and width <= asked.until.half_width
    result = comparison_result(
        (names[0], names[1]),
        measures,
        asked.compare,
        asked.margin,
        _answers_agree(a, b),
        _parts(a, b, asked.compare),
        others,
        models.StopResult(rule=str(asked.until) if asked.until else None, reached=reached, half_width=width),
    )
    needed = chosen.runs_needed
    return result.model_copy(
        update={
            "blocks": asked.blocks.value,
            "blocks_needed": needed,
            "minutes_needed": _minutes(needed, a.timed),
        }
    )


def _minutes(blocks: int | None, timed: Sequence[QE], rounds: int = 1) -> float | None:
    """Return the time of this many blocks at the pace of a query's timed QEs, where it is known. `rounds`: of a
    block."""
    if blocks is None or len(timed) < 2:
        return None
    begin, end = (datetime.fromisoformat(qe.started_at) for qe in (timed[0], timed[-1]))
    pace_s = (end - begin).total_seconds() / (len(timed) - 1)
    return blocks * rounds * pace_s / 60 if pace_s > 0 else None


def _with_looks(
    found: models.ComparisonResult, looks: SessionLooks, query: int, timed: Sequence[QE]
) -> models.ComparisonResult:
    """Add the last look at a query. A run that was cut short before it has no gate, and is undecided."""
    is_gate = looks.claim.question is Question.SLOWER
    if not looks.latest:
        return found if is_gate else _with_last_look(found, NOT_LOOKED, timed)
    last = looks.latest[query]
    return _with_gate(found, looks, last, timed) if is_gate else _with_last_look(found, last, timed)


def _with_gate(
    found: models.ComparisonResult, looks: SessionLooks, last: Look, timed: Sequence[QE]
) -> models.ComparisonResult:
    """Add the gate at its last look at a query. Where a process that may have worked for the query could overturn the
    ratio, the gate stays undecided, and more blocks will not help."""
    is_known = found.elsewhere is None or not found.elsewhere.overturns
    needed = last.blocks_needed if is_known else None
    verdict = last.verdict if is_known else Verdict.UNDECIDED
    gate = models.GateResult(
        **_last_look(last),
        margin=looks.claim.margin,
        verdict="slower"
        if verdict is Verdict.SLOWER
        else "not slower"
        if verdict is Verdict.NOT_SLOWER
        else "undecided",
        blocks_needed=needed,
        minutes_needed=_minutes(needed, timed, ROUNDS),
    )
    return found.model_copy(update={"gate": gate, "blocks_needed": None, "minutes_needed": None})


def _with_last_look(
    found: models.ComparisonResult, last: Look, timed: Sequence[QE]
) -> models.ComparisonResult:
    """Replace the verdict by that of the last look, as `_with_gate` does."""
    is_known = found.elsewhere is None or not found.elsewhere.overturns
    verdict = last.verdict if is_known else Verdict.UNDECIDED
    greater = None
    if verdict is Verdict.DIFFERENT and last.change is not None:
        greater = "B" if last.change.ratio > 1 else "A"
    needed = last.blocks_needed if is_known else None
    return found.model_copy(
        update={
            "verdict": verdict.value,
            "greater": greater,
            "blocks_needed": needed,
            "minutes_needed": _minutes(needed, timed, ROUNDS),
            "sequential": models.SequentialResult(**_last_look(last)),
        }
    )


def _last_look(last: Look) -> dict[str, Any]:
    return {
        "blocks": last.blocks,
        "rounds": ROUNDS,
        "looks": last.number,
        "change": _block_ratio(last.change),
        "floor": _block_ratio(last.floor),
    }


def _block_ratio(estimate: RatioEstimate | None) -> models.BlockRatio | None:
    if estimate is None:
        return None
    return models.BlockRatio(
        ratio=estimate.ratio,
        low=estimate.low,
        high=estimate.high,
        confidence=estimate.confidence,
        spread=estimate.spread,
    )


def comparison_result(
    names: tuple[str, str],
    found: Mapping[str, Comparison],
    primary: str,
    margin: float | None,
    answers_agree: bool | None,
    parts: models.PartsResult | None,
    others: Elsewhere | None = None,
    stop: models.StopResult = NO_RULE,
) -> models.ComparisonResult:
    """Return the document of a comparison; `found` has the primary measure. `margin`: of the verdict, where given."""
    chosen = found[primary]
    holds = others is None or not others.overturns
    return models.ComparisonResult(
        a=names[0],
        b=names[1],
        primary=primary,
        verdict=chosen.verdict if holds else "undecided",
        greater=chosen.greater if holds else None,
        margin=margin,
        answers_agree=answers_agree,
        measures={name: measure_comparison(one, COMPARED[name].unit) for name, one in found.items()},
        parts=parts,
        elsewhere=_elsewhere_result(others) if others else None,
        stop=stop,
    )


def _elsewhere(a: QatC, b: QatC, chosen: Comparison, margin: float) -> Elsewhere | None:
    left, right = ([qe for qe in qatc.timed if CPU_OF_ALL.read(qe) is not None] for qatc in (a, b))
    return elsewhere(left, right, chosen, margin)


def _elsewhere_result(found: Elsewhere) -> models.ElsewhereResult:
    return models.ElsewhereResult(
        medians_ms=(found.beside_a_ms, found.beside_b_ms),
        by=list(found.by),
        with_them=measure_comparison(found.with_them, CPU_OF_ALL.unit),
        overturns=found.overturns,
    )


def known(summary: Summary) -> list[float]:
    return [sample for sample in summary.samples if sample is not None]


def _summary(qatc: QatC, name: str) -> Summary:
    measure = COMPARED[name]
    return (qatc.resources if measure.view == "resources" else qatc.elapsed)[measure.name]


def _parts(a: QatC, b: QatC, primary: str) -> models.PartsResult | None:
    """Split the difference into its parts; None where a run of the two lacks the figure for planning."""
    planning = PLANNING_OF.get(primary)
    sides = [_side(qatc, planning, primary) for qatc in (a, b)] if planning else []
    whole = [side for side in sides if side is not None]
    if len(whole) < 2:
        return None
    return parts_result(attribute(*whole), COMPARED[primary].unit)


def parts_result(found: Attribution, unit: str) -> models.PartsResult:
    return models.PartsResult(
        planning=measure_comparison(found.planning, unit),
        execution=measure_comparison(found.execution, unit),
        where=found.where,
        planning_share=found.planning_share,
    )


def _side(qatc: QatC, planning: Measure, primary: str) -> Side | None:
    if planning.name not in qatc.phases:
        return None
    parts, totals = known(qatc.phases[planning.name]), known(_summary(qatc, primary))
    return (parts, totals) if parts and len(parts) == len(totals) == len(qatc.timed) else None


def _answers_agree(a: QatC, b: QatC) -> bool | None:
    answers = {(qe.row_count, qe.answer_hash) for qe in (*a.timed, *b.timed)}
    return None if any(hash_ is None for _, hash_ in answers) else len(answers) == 1


def measure_comparison(one: Comparison, unit: str) -> models.MeasureComparison:
    return models.MeasureComparison(
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


def _shift(shift: Shift) -> models.ShiftResult:
    return models.ShiftResult(estimate=shift.estimate, ci95=bounds(shift.ci95), ci99=bounds(shift.ci99))
