"""A set of queries, each compared under A and B."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tare.protocol.comparison.session_blocks import ARMS
from tare.report.gate_conditions import violated
from tare.report.kit.blocks import Block, Cell, Column, Facts, Item, Items, Kind, Row, Table, Tone, Verdict
from tare.report.kit.figure import Figure
from tare.report.result import ComparisonResult, RunResult
from tare.report.time import comparison
from tare.report.words import NOTHING, counted, joined

_NAMED = 3  # queries that the first sentence names


def verdict(result: RunResult, tone: Tone, besides: Sequence[str]) -> Verdict:
    """How many queries of a set differ, and the most extreme of them."""
    found = result.comparisons
    flagged = sorted(filter(is_flagged, found), key=lambda one: -_distance(one))
    gates = [one.gate for one in found if one.gate is not None]
    undecided = sum(gate.verdict == "undecided" for gate in gates)
    if flagged:
        named = joined([f"{name_of(one)} ({comparison.brief(one)})" for one in flagged[:_NAMED]])
        more = f" and {len(flagged) - _NAMED} more" if len(flagged) > _NAMED else ""
        be = "is" if len(flagged) == 1 else "are"
        what = f"{be} slower on B by more than the margin" if gates else f"{be} different between A and B"
        if any(map(violated, flagged)):
            what = "fail the gate" if len(flagged) > 1 else "fails the gate"
        text = f"{len(flagged)} of {len(found)} queries {what}: {named}{more}"
    elif undecided:
        of_all = counted(len(found), "query", "queries")
        text = f"{undecided} of {of_all} undecided, none slower by more than the margin"
    else:
        text = "no query is slower by more than the margin" if gates else "no query differs between A and B"
    if flagged and gates:
        tone = Tone.BAD
    elif undecided:
        tone = Tone.CAUTION
    return Verdict("", f"{text[:1].upper()}{text[1:]}.", tone, list(besides))


def blocks(result: RunResult) -> Iterator[Block]:
    """A line for each query of a set."""
    found = result.comparisons
    label = comparison.LABELS[found[0].primary]
    rows: list[Row] = [_row(one, result) for one in found]
    is_gate = any(one.gate is not None for one in found)
    last = Column("verdict", Kind.NAME) if is_gate else Column("p, Holm")
    yield Facts("", list(comparison.arm_facts(result.arms)))
    yield Table(
        f"B over A in {label}, with "
        + ("intervals that hold for all queries and looks together" if is_gate else "95% intervals"),
        [
            Column("query", Kind.NAME),
            Column("A"),
            Column("B"),
            Column("B over A"),
            last,
            Column("plan", Kind.NAME),
        ],
        rows,
    )
    if not is_gate:
        yield Items(
            [
                Item(
                    "a query differs if its 99% interval leaves out 1 and its p, corrected by Holm's procedure over "
                    "all queries, is below 0.05",
                    "*",
                    Tone.QUIET,
                )
            ]
        )
    missing = len(result.results) // (ARMS if is_gate else 2) - len(found)
    if missing:
        yield Items([Item(f"{counted(missing, 'query', 'queries')} could not be compared", "✗", Tone.BAD)])


def is_flagged(one: ComparisonResult) -> bool:
    if one.gate is None:
        return one.verdict == "different"
    return one.gate.verdict == "slower" or bool(violated(one))


def name_of(one: ComparisonResult) -> str:
    """Name of the query, without its arm."""
    return one.a.removesuffix(" [A]")


def _row(one: ComparisonResult, result: RunResult) -> Row:
    chosen = one.measures[one.primary]
    plans = [query.plan.fingerprint for query in result.results if query.name in (one.a, one.b)]
    tone = Tone.STRONG if is_flagged(one) else Tone.PLAIN
    last: Cell | str = NOTHING
    if one.gate is not None:
        broken = ", ".join(f"{condition.condition} changed" for condition in violated(one))
        last = Cell(f"{one.gate.verdict}; {broken}" if broken else one.gate.verdict, tone=tone)
    elif one.p_holm is not None:
        last = Cell(comparison.p_value(one.p_holm), note="*" if is_flagged(one) else "")
    return [
        Cell(name_of(one), tone=tone),
        *(Figure(median, unit=chosen.unit).cell() for median in chosen.medians),
        comparison.change(comparison.ratio_of(one)),
        last,
        "" if len(plans) < 2 or plans[0] == plans[1] or None in plans else "changed",
    ]


def _distance(one: ComparisonResult) -> float:
    ratio = comparison.ratio_of(one)
    return abs(math.log(ratio.estimate)) if ratio is not None else 0.0
