"""From the record of a tuning run to its report."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import partial

from tare.protocol.comparison.blocks import RatioEstimate
from tare.report.origin import written_at, written_by
from tare.report.ratio import Ratio, as_ratio
from tare.report.tune.document import (
    ArmReport,
    Candidate,
    DurabilityLoss,
    FloorReport,
    Result,
    SearchReport,
    TuningReport,
)
from tare.report.words import counted, dbms_name, joined
from tare.tune.arms import AGAIN, BASELINE
from tare.tune.durability import losses
from tare.tune.racing import Standing, standings
from tare.tune.record import SearchRecord, Tuning
from tare.tune.verdicts import Floor, Judged, Objective, Verdict, judge, paired

DISTURBED = 0.1
"""Share of the machine's CPUs used by other programs from which the report warns."""


def build(tuning: Tuning, title: str | None = None) -> TuningReport:
    goal = tuning.specification.goal
    names = [name for name in tuning.arms if name not in (BASELINE, AGAIN)]
    floors = {objective: Floor(_ratio(tuning, objective, AGAIN)) for objective in goal.objectives}
    judged = {
        objective: judge(
            objective,
            {name: _ratio(tuning, objective, name) for name in names},
            floors[objective],
            goal.margin,
        )
        for objective in goal.objectives
    }
    arms = tuple(_arm(tuning, name, judged) for name in names)
    is_result = not tuning.is_over and len(tuning.blocks) > 1
    others = [window.others for window in tuning.windows if window.others is not None]
    return TuningReport(
        id=f"t{tuning.number}",
        title=title or f"Tuning {dbms_name(tuning.dbms)} under {tuning.specification.load.workload}",
        written_at=written_at(),
        written_by=written_by(),
        url=tuning.url,
        dbms=tuning.dbms,
        server_version=tuning.version,
        online_cpus=tuning.online_cpus,
        scale=tuning.scale,
        specification=tuning.specification,
        baseline=tuning.baseline,
        headline=tuple(_headline(tuning, arms, floors)),
        is_result=is_result,
        blocks=len(tuning.blocks),
        warming=tuple(sorted(tuning.warming)),
        others=statistics.fmean(others) if others else None,
        floors=tuple(
            FloorReport(objective=objective, ratio=as_ratio(floor.estimate), holds_1=floor.holds_1)
            for objective, floor in floors.items()
        ),
        arms=arms,
        dropped=tuning.dropped,
        runs=tuning.runs,
        windows=tuning.windows,
        is_separate=tuning.is_separate,
        is_restarted=tuning.is_restarted,
        search=None if tuning.search is None else _search(tuning.search),
    )


def _search(search: SearchRecord) -> SearchReport:
    candidates = [_candidate(search, name) for name in search.candidates]
    return SearchReport(
        objective=search.objective,
        budget_s=search.budget_s,
        took_s=search.took_s,
        rounds=len(search.rounds),
        candidates=tuple(sorted(candidates, key=partial(_place, search.objective))),
        runs=search.runs,
        windows=search.windows,
    )


def _candidate(search: SearchRecord, name: str) -> Candidate:
    ratios = []
    why = None
    for number, round_ in enumerate(search.rounds):
        if name not in round_.arms:
            break
        windows = [window for window in search.windows if window.run <= number]
        ratios.append(_standing(standings(windows, [name], search.objective)[name]))
        why = next((one.reason for one in round_.ended if one.name == name), None)
    return Candidate(name=name, settings=search.candidates[name], ratios=tuple(ratios), why_ended=why)


def _standing(found: Standing | None) -> Ratio | None:
    if found is None or found.interval is None:
        return None
    return Ratio(value=found.ratio, low=found.interval.low, high=found.interval.high, blocks=found.blocks)


def _place(objective: Objective, candidate: Candidate) -> tuple[int, float]:
    """Sort key: candidates that stayed longest first, then the best."""
    last = candidate.ratios[-1] if candidate.ratios else None
    sign = -1 if objective.more_is_better else 1
    stayed = len(candidate.ratios) + (candidate.why_ended is None)
    return -stayed, math.inf if last is None else sign * last.value


def _column(tuning: Tuning, objective: Objective, arm: str) -> list[float | None]:
    """The arm's figure in each whole block."""
    return [getattr(block[arm], objective.figure) for block in tuning.blocks]


def _ratio(tuning: Tuning, objective: Objective, arm: str) -> RatioEstimate | None:
    return paired(_column(tuning, objective, BASELINE), _column(tuning, objective, arm))


def _arm(tuning: Tuning, name: str, judged: dict[Objective, dict[str, Judged]]) -> ArmReport:
    settings = tuning.arms[name]
    return ArmReport(
        name=name,
        settings=settings,
        losses=tuple(
            DurabilityLoss(setting=loss.setting, value=loss.value, what=loss.what, source=loss.source)
            for loss in losses(settings)
        ),
        left_backlog=sum(run.leaving.get(name, 0) for run in tuning.runs),
        results=tuple(_result(tuning, name, objective, each[name]) for objective, each in judged.items()),
    )


def _result(tuning: Tuning, name: str, objective: Objective, judged: Judged) -> Result:
    verdict = Verdict.NOT_MEASURED if tuning.is_over else judged.verdict
    return Result(
        objective=objective,
        verdict=verdict,
        ratio=as_ratio(judged.estimate),
        p=judged.p,
        blocks_needed=judged.blocks_needed,
        baseline=_median(_column(tuning, objective, BASELINE)),
        arm=_median(_column(tuning, objective, name)),
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


# The answer --------------------------------------------------------------------------------
def _headline(tuning: Tuning, arms: Sequence[ArmReport], floors: dict[Objective, Floor]) -> list[str]:
    rate = f"{tuning.specification.load.rate:g}/s"
    if tuning.search is not None and not tuning.runs:
        return [_unfinished(tuning.search, rate)]
    if any(run.is_over for run in tuning.runs):
        left = {arm.name: arm.left_backlog for arm in arms if arm.left_backlog}
        who = (
            f" Backlogs were left by {joined([f'{name} ({n} windows)' for name, n in left.items()])}."
            if left
            else ""
        )
        return [f"Over capacity at {rate}: windows began with a backlog, so no arm has a result.{who}"]
    if any(run.changed_regime for run in tuning.runs):
        return [f"Over capacity at {rate}: the baseline itself changed regime, so no arm has a result."]
    if len(tuning.blocks) < 2:
        return [f"{counted(len(tuning.blocks), 'whole block')}: too few for a verdict."]
    sentences = [_sentence(arms, objective) for objective in floors]
    differing = [objective for objective, floor in floors.items() if floor.estimate and not floor.holds_1]
    if differing:
        named = joined([objective.value for objective in differing])
        sentences.append(f"The two baselines differ by {named}: this machine was not steady enough.")
    if tuning.search is not None:
        sentences.append(
            f"The search took {counted(len(tuning.search.rounds), 'round')} among "
            f"{counted(len(tuning.search.candidates), 'candidate')}; the figures above are of fresh blocks."
        )
    return sentences


def _unfinished(search: SearchRecord, rate: str) -> str:
    number = len(search.rounds)
    if search.runs and search.runs[-1].is_stopped:
        return f"The search was stopped in round {number}, so no arm has a result."
    return f"Over capacity at {rate}: the baseline itself left a backlog in round {number} of the search."


def _sentence(arms: Sequence[ArmReport], objective: Objective) -> str:
    """The best arm by an objective, or that none is."""
    results = [(arm, result) for arm in arms for result in arm.results if result.objective is objective]
    better = [(arm, result) for arm, result in results if result.verdict is Verdict.BETTER and result.ratio]
    if not better:
        counts = {verdict: sum(result.verdict is verdict for _, result in results) for verdict in Verdict}
        parts = [f"{count} {verdict.value}" for verdict, count in counts.items() if count]
        return f"{_WORDS[objective]}: no arm is better than the baseline ({', '.join(parts)})."
    sign = 1 if objective.more_is_better else -1
    arm, result = max(better, key=lambda pair: sign * pair[1].ratio.value if pair[1].ratio else 0.0)
    assert result.ratio is not None
    cost = f", and it gives durability up ({arm.losses[0].what})" if arm.losses else ""
    ratio = result.ratio
    return (
        f"{_WORDS[objective]}: {arm.name} is better, {ratio.value:.2f} times the baseline's "
        f"[{ratio.low:.2f}, {ratio.high:.2f}]{cost}."
    )


_WORDS = {
    Objective.VARIANCE: "Variance",
    Objective.SD: "Standard deviation",
    Objective.MEAN: "Mean",
    Objective.P50: "Median",
    Objective.P99: "p99",
    Objective.P99_9: "p99.9",
    Objective.NORM: "L_p norm",
    Objective.THROUGHPUT: "Throughput",
}
