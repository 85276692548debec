"""Sentences about a curve: why a step is no result, and what the curve found."""

from __future__ import annotations

from collections.abc import Iterator

from tare.lab.ids import oltp_id
from tare.protocol.oltp.capacity import Capacity, Judged, Sign, judge
from tare.protocol.oltp.limit import Ended
from tare.report.numbers import ms_text, thousands
from tare.report.oltp import words
from tare.report.oltp.curve.document import CurveReport, Knee, Limit, Step
from tare.report.oltp.reasons import reason
from tare.report.words import counted, joined, number, two_digits
from tare.workload.oltp.distribution import MS
from tare.workload.oltp.run import OltpRun

FIGURES = {"mean": "mean", "p50": "median"}
NO_RESULT = "Such steps are no results: times over capacity depend on the length of the step."


def why(judged: Judged) -> str:
    """The fact behind a judgement, without a full stop."""
    value, other = judged.value, judged.other
    match judged.sign:
        case Sign.RATE_HELD:
            return "the rate was sustained"
        case Sign.RATE_MISSED:
            return f"{words.rate(value)} were completed of {words.rate(other)} due"
        case Sign.BACKLOG:
            return f"{thousands(round(value))} transactions waited to be started"
        case Sign.SHED:
            return f"{thousands(round(value))} transactions were shed"
        case Sign.GIVEN_UP:
            return f"{two_digits(value)} of the transactions were given up"
        case Sign.TWO_REGIMES:
            return f"the median went from {ms_text(value)} to {ms_text(other)} with all connections busy"
        case Sign.ERRORS:
            lost = f"{thousands(round(value))} transactions ended in errors or lost their connection"
            return f"{lost}, {counted(round(other), 'connection')} made again" if other else lost
        case Sign.CONDITIONS:
            return "a condition on the data does not hold"
        case Sign.INVALID:
            return "the run is not valid"


def budget_text(found: Limit) -> str:
    return f"{FIGURES.get(found.figure, found.figure)} of {found.ms:g} ms"


def headline(report: CurveReport) -> Iterator[str]:
    """The answer first, then what stands against it. The report's own headline is not read."""
    if report.limit is not None:
        budget = report.limit
        answers = [_knee(report, budget, knee) for knee in report.knees]
    else:
        answers = list(_capacity(report))
    yield from (text[0].upper() + text[1:] for text in answers)
    over = [step for step in report.steps if not step.is_result]
    if over:
        yield f"Of {counted(len(report.steps), 'step')}, {_kinds(over)}. {NO_RESULT}"
    disturbed = [step.disturbed for step in report.steps if step.disturbed is not None]
    if disturbed:
        most = max(disturbed, key=lambda fact: fact.seconds)
        yield f"Disturbed: {counted(len(disturbed), 'step')}; in one of them {reason(most)}."
    if report.failures:
        rates = ", ".join(words.rate(failure.requested) for failure in report.failures)
        steps = counted(len(report.failures), "step")
        yield f"{steps} ended without a result ({rates}): {report.failures[0].why.splitlines()[0]}."
    if report.conditions_failing:
        yield f"Conditions on the data do not hold after the last step: {', '.join(report.conditions_failing)}."


def _named(report: CurveReport, arm: int) -> str:
    return f"{report.arms[arm].label}: " if len(report.arms) > 1 else ""


def _knee(report: CurveReport, budget: Limit, knee: Knee) -> str:
    cost = f"{counted(knee.steps, 'step')}, {knee.minutes:.1f} min"
    name = _named(report, knee.arm)
    unfinished = " The search ended before the bracket was closed." if knee.ended is Ended.UNFINISHED else ""
    unsure = " An end is not confirmed by a second step." if knee.ended is Ended.UNDECIDED else ""
    if knee.rate is None:
        if knee.above is None:
            return (
                f"{name}no rate could be placed below or above a {budget_text(budget)} ({cost}).{unfinished}"
            )
        over = f"{words.rate(knee.above)} lies above it"
        return f"{name}no rate is known to stay below a {budget_text(budget)}; {over} ({cost}).{unfinished}"
    if knee.above is None:
        reached = "the highest rate" if knee.ended is Ended.NOT_REACHED else "the highest so far"
        return (
            f"{name}a {budget_text(budget)} holds at {words.rate(knee.rate)}, {reached}; the knee lies higher ({cost})."
            f"{unfinished}"
        )
    return (
        f"{name}the highest rate with a {budget_text(budget)} is {words.rate(knee.rate)} "
        f"[{words.rate(knee.rate)}, {words.rate(knee.above)}] ({cost}).{unfinished}{unsure}"
    )


def _capacity(report: CurveReport) -> Iterator[str]:
    for arm in range(len(report.arms)):
        steps = [step for step in report.steps if step.arm == arm]
        missed = {step.requested for step in steps if not step.is_result}
        held = [step.requested for step in steps if step.is_result and step.requested not in missed]
        under = [rate for rate in held if all(rate < other for other in missed)]
        name = _named(report, arm)
        if not under:
            yield f"{name}no rate was sustained by all of its steps."
        elif not missed:
            yield f"{name}all rates up to {words.rate(max(under))} were sustained."
        else:
            yield (
                f"{name}rates up to {words.rate(max(under))} were sustained; {words.rate(min(missed))} was not, in "
                "one step or more."
            )


def _kinds(steps: list[Step]) -> str:
    named = {
        Capacity.OVER: ("is over capacity", "are over capacity"),
        Capacity.CHANGED_REGIME: ("changed regime", "changed regime"),
        Capacity.FAILED: ("failed", "failed"),
    }
    parts = [
        f"{number(n)} {one if n == 1 else many}"
        for kind, (one, many) in named.items()
        if (n := sum(step.capacity is kind for step in steps))
    ]
    return joined(parts)


def progress(where: str, rate: float, run_id: int, run: OltpRun | None, failure: str) -> str:
    """A finished step in a line."""
    if run is None:
        return f"{words.rate(rate)} on {where}: no result: {failure.splitlines()[0]}"
    judged = judge(run)
    response = run.outcome.all.response
    p50, p99 = (ms_text((response.quantile(share) or 0) / MS) for share in (0.5, 0.99))
    text = f"run {oltp_id(run_id)} {where} {words.rate(rate)}: p50 {p50}, p99 {p99}"
    return text if judged.capacity.is_result else f"{text}; {judged.capacity}: {why(judged)}"
