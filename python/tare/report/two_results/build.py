"""From two results to the document of their comparison."""

from __future__ import annotations

from tare.protocol.attribution import Side as Samples
from tare.protocol.attribution import attribute
from tare.protocol.compare import Comparison, compare
from tare.protocol.measures import WALL
from tare.report.comparison import COMPARED, PLANNING_OF, TOTAL_CPU, comparison_result, parts_result
from tare.report.comparison_models import PartsResult
from tare.report.result import MeasureResult, QueryResult, RunResult
from tare.report.two_results import conditions
from tare.report.two_results.document import QueryComparison, ResultsComparison, Side, SideWarning
from tare.report.warnings import SPARE_THE_TIMES


def compare_results(
    old: RunResult,
    new: RunResult,
    files: tuple[str, str],
    measure: str | None,
    command: str,
    margin: float | None = None,
) -> ResultsComparison:
    """Compare each query that both results have. `measure`: measure of the verdicts; by default the CPU time of all
    processes when warm, else the wall time. `margin`: change of a ratio that does not matter, 0.05 for 5%.

    Raises UsageError where the two measured different things."""
    paired = conditions.pairs(old, new)
    conditions.refuse_unlike(old, new, paired, files)
    is_warm = all(one.cache.asked == "warm" for one, _ in paired)
    primary = measure or (TOTAL_CPU if is_warm else WALL.name)
    names = {id(query) for pair in paired for query in pair}
    return ResultsComparison(
        command=command,
        old=_side(old, files[0]),
        new=_side(new, files[1]),
        clocked=old.clocked,
        primary=primary,
        queries=[_query(one, other, files, primary, margin) for one, other in paired],
        only_old=[query.name for query in old.results if id(query) not in names],
        only_new=[query.name for query in new.results if id(query) not in names],
        differences=conditions.differences(old, new, paired),
        warnings=[*_warnings(old, "old", names), *_warnings(new, "new", names)],
    )


def _side(result: RunResult, file: str) -> Side:
    return Side(
        file=file,
        command=result.command,
        started_at=result.started_at,
        interrupted=result.interrupted,
        error=result.error,
        environment=result.environment,
    )


def _warnings(result: RunResult, side: str, compared: set[int]) -> list[SideWarning]:
    names = {query.name for query in result.results if id(query) in compared}
    return [
        SideWarning(side=side, **warning.model_dump())  # type: ignore[arg-type]
        for warning in result.warnings
        if warning.type not in SPARE_THE_TIMES and (warning.query is None or warning.query in names)
    ]


def _query(
    old: QueryResult, new: QueryResult, files: tuple[str, str], primary: str, margin: float | None
) -> QueryComparison:
    found: dict[str, Comparison] = {}
    for name in COMPARED:
        a, b = (_known(_measure(query, name)) for query in (old, new))
        if a and b:
            found[name] = compare(a, b, interleaved=False, margin=margin or 0.0)
    chosen = found.get(primary)
    if chosen is None:
        why = _reason(old, new, files, primary)
        return QueryComparison(name=new.name, sql=new.sql, comparison=None, ci95={}, reason=why)
    comparison = comparison_result(
        files, found, primary, margin, _answers_agree(old, new), _split(old, new, primary)
    )
    intervals = {name: (_measure(old, name).ci95, _measure(new, name).ci95) for name in found}
    return QueryComparison(name=new.name, sql=new.sql, comparison=comparison, ci95=intervals, reason=None)


def _measure(query: QueryResult, name: str) -> MeasureResult:
    measure = COMPARED[name]
    group = query.resources if measure.view == "resources" else query.measures
    found: MeasureResult = getattr(group, measure.name)
    return found


def _known(measure: MeasureResult) -> list[float]:
    return [sample for sample in measure.samples if sample is not None]


def _reason(old: QueryResult, new: QueryResult, files: tuple[str, str], primary: str) -> str:
    lacking = [
        f"{name}: {_measure(query, primary).reason or 'no run was timed to its end'}"
        for query, name in zip((old, new), files, strict=True)
        if not _known(_measure(query, primary))
    ]
    return "; ".join(lacking)


def _split(old: QueryResult, new: QueryResult, primary: str) -> PartsResult | None:
    planning = PLANNING_OF.get(primary)
    if planning is None:
        return None
    sides = [_samples(query, planning.name, primary) for query in (old, new)]
    whole = [side for side in sides if side is not None]
    if len(whole) < 2:
        return None
    return parts_result(attribute(*whole, interleaved=False), COMPARED[primary].unit)


def _samples(query: QueryResult, planning: str, primary: str) -> Samples | None:
    """Samples of planning and of the whole; None where a run lacks one, or planning is no part of the whole."""
    if query.phases is None:
        return None
    part: MeasureResult = getattr(query.phases, planning)
    planned, totals = _known(part), _known(_measure(query, primary))
    return (planned, totals) if planned and len(planned) == len(totals) == len(part.samples) else None


def _answers_agree(old: QueryResult, new: QueryResult) -> bool | None:
    """None where that is not known. The hash of an answer has every bit of its floating-point values, which may differ
    within the tolerance: of such answers it shows only that they are the same."""
    answers = (old.answer, new.answer)
    if any(one.hash is None or one.not_compared is not None for one in answers):
        return None
    if not all(one.consistent for one in answers) or old.answer.rows != new.answer.rows:
        return False
    if old.answer.hash == new.answer.hash:
        return True
    return None if any(one.largest_difference is not None for one in answers) else False
