"""A set of queries, each compared under A and B."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tare.protocol.comparison.session_looks import ARMS
from tare.report.comparison_models import ComparisonResult
from tare.report.gate_conditions import violated
from tare.report.kit.blocks import Block, Cell, Column, Facts, Item, Items, Kind, Row, Table, Tone, Verdict
from tare.report.kit.figure import Figure
from tare.report.kit.names import middle
from tare.report.result import RunResult
from tare.report.time import comparison
from tare.report.words import NOTHING, joined

_NAMED = 3  # queries that the first sentence names
_MOST_NAME = 40  # columns of a name


def verdict(result: RunResult, tone: Tone, besides: Sequence[str]) -> Verdict:
    """Return how many queries of a set differ, and those that differ most."""
    found = result.comparisons
    flagged = sorted(filter(is_flagged, found), key=lambda one: -_distance(one))
    is_gate = found[0].gate is not None
    undecided = sum(map(comparison.is_open, found))
    if flagged:
        named = joined([f"{_short(one)} ({_brief(one)})" for one in flagged[:_NAMED]])
        more = f" and {len(flagged) - _NAMED} more" if len(flagged) > _NAMED else ""
        text = f"{len(flagged)} of {len(found)} queries {_what(flagged, is_gate=is_gate)}: {named}{more}"
    elif undecided:
        what = "slower" if is_gate else "different"
        beyond = " by more than the margin" if is_gate or found[0].margin is not None else ""
        text = f"{undecided} of {len(found)} queries undecided, none {what}{beyond}"
    elif is_gate:
        text = "no query is slower by more than the margin"
    elif found[0].margin is not None:
        text = f"all {len(found)} queries are equivalent on A and B, within {found[0].margin * 100:g}%"
    else:
        text = "no query differs between A and B"
    if flagged and is_gate:
        tone = Tone.BAD
    elif undecided and tone is Tone.GOOD:
        tone = Tone.CAUTION
    return Verdict("", f"{text[:1].upper()}{text[1:]}.", tone, list(besides))


def _what(flagged: Sequence[ComparisonResult], *, is_gate: bool) -> str:
    if any(map(violated, flagged)):
        return "fail the gate" if len(flagged) > 1 else "fails the gate"
    be = "is" if len(flagged) == 1 else "are"
    return f"{be} slower on B by more than the margin" if is_gate else f"{be} different between A and B"


def blocks(result: RunResult) -> Iterator[Block]:
    """Yield a line for each query of a set, and how the verdicts are drawn."""
    found = result.comparisons
    label = comparison.LABELS[found[0].primary]
    is_looked_at = found[0].last_look is not None
    has_verdicts = is_looked_at or found[0].margin is not None
    yield Facts("", list(comparison.arm_facts(result.arms)))
    yield Table(
        f"B over A in {label}, with "
        + ("intervals that hold for all queries and looks together" if is_looked_at else "95% intervals"),
        [
            Column("query", Kind.NAME),
            Column("A"),
            Column("B"),
            Column("B over A"),
            Column("verdict", Kind.NAME) if has_verdicts else Column("p, Holm"),
            Column("plan", Kind.NAME),
        ],
        [_row(one, result) for one in found],
    )
    yield Items(list(_notes(result, is_looked_at=is_looked_at)))


def _notes(result: RunResult, *, is_looked_at: bool) -> Iterator[Item]:
    if not is_looked_at:
        limit = result.comparisons[0].margin
        claim = (
            "differs if its 99% interval leaves out 1"
            if limit is None
            else f"is different (equivalent) if its 99% interval lies beyond (within) the margin of {limit * 100:g}%"
        )
        yield Item(
            f"a query {claim} and its p, corrected by Holm's procedure over all queries, is below 0.05",
            "*",
            Tone.QUIET,
        )
    missing = len(result.results) // (ARMS if is_looked_at else 2) - len(result.comparisons)
    if missing:
        noun = "query" if missing == 1 else "queries"
        yield Item(f"{missing} {noun} could not be compared", "✗", Tone.BAD)


def is_flagged(one: ComparisonResult) -> bool:
    """Whether the two sides differ, or the gate fails."""
    if one.gate is None:
        return one.verdict == "different"
    return one.gate.verdict == "slower" or bool(violated(one))


def _short(one: ComparisonResult) -> str:
    return middle(one.a.removesuffix(" [A]"), _MOST_NAME)


def _brief(one: ComparisonResult) -> str:
    cell = comparison.change(ratio) if (ratio := comparison.ratio_of(one)) else Cell(NOTHING)
    return f"{cell.value} {cell.interval}".strip()


def _row(one: ComparisonResult, result: RunResult) -> Row:
    chosen = one.measures[one.primary]
    plans = [query.plan.fingerprint for query in result.sides(one)]
    tone = Tone.STRONG if is_flagged(one) else Tone.PLAIN
    last: Cell | str = NOTHING
    if one.gate is not None:
        broken = ", ".join(f"{condition.condition} changed" for condition in violated(one))
        last = Cell(f"{one.gate.verdict}; {broken}" if broken else one.gate.verdict, tone=tone)
    elif one.margin is not None or one.sequential is not None:
        last = Cell(one.verdict, tone=tone)
    elif one.p_holm is not None:
        last = Cell(comparison.p_value(one.p_holm), note="*" if is_flagged(one) else "")
    ratio = comparison.ratio_of(one)
    return [
        Cell(_short(one), tone=tone),
        *(Figure(median, unit=chosen.unit).cell() for median in chosen.medians),
        comparison.change(ratio) if ratio else NOTHING,
        last,
        "" if plans[0] == plans[1] or None in plans else "changed",
    ]


def _distance(one: ComparisonResult) -> float:
    ratio = comparison.ratio_of(one)
    return abs(math.log(ratio.estimate)) if ratio is not None else 0.0
