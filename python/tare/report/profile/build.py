"""From what a profile found to its report and charts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tare.lab.profile_about import About, FailureKind, Shed
from tare.protocol.profile.found import Findings, Invalidity
from tare.protocol.profile.shares import TRANSACTION
from tare.protocol.profile.validity import invalidities
from tare.report.kit.names import whole
from tare.report.origin import written_at, written_by
from tare.report.profile import document, failure, figures
from tare.report.profile.document import ProfileReport
from tare.report.profile.drawn import Drawn, Spread
from tare.report.profile.headline import before_findings, behind_first, headline
from tare.report.profile.next import Unwatched, next_step
from tare.report.words import dbms_name, sentence

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart


@dataclass(frozen=True)
class Built:
    """`report` holds every number of the report; its charts are drawn when a page shows them."""

    report: ProfileReport

    @cached_property
    def charts(self) -> Sequence[Chart | NoChart]:
        """In the order of the page."""
        from tare.report.profile.charts import cpu, durations, icicle, tail, windows

        drawn: list[Chart | NoChart | None] = [
            icicle.chart(self.report),
            durations.histogram(self.report),
            durations.slower(self.report),
            cpu.chart(self.report),
            tail.chart(self.report),
            windows.chart(self.report),
        ]
        return [chart for chart in drawn if chart is not None]


def build(
    findings: Findings,
    about: About,
    drawn: Drawn | None = None,
    *,
    refine: Sequence[str] | None = None,
    naive_rounds: int | None = None,
    title: str | None = None,
) -> Built:
    """`refine`: functions that the next round would divide, () for none; None: it is not known, and the factors say.
    `naive_rounds`: of breadth-first decomposition, to the same functions."""
    drawn = drawn or Drawn()
    known = {one.id: whole(one.name) for one in about.functions}
    command = shlex.join(about.command)

    def names(function: int) -> str:
        return known.get(function, f"function {function}")

    nodes = [figures.node(one) for one in findings.nodes]
    factors = [figures.factor(one) for one in findings.factors]
    because = _invalid_because(findings, about)
    before, behind = before_findings(findings), behind_first(findings)
    report = ProfileReport(
        title=whole(title or _title(about)),
        written_at=written_at(),
        written_by=written_by(),
        run=about.name,
        started_at=about.when,
        valid=not because,
        invalid_because=[str(one) for one in because],
        headline=[],
        warnings=[
            sentence(whole(one.says))
            for one in findings.reservations
            if one not in before and one not in behind
        ],
        failure=_failure(about, names),
        rates=document.Rates(**about.rates.model_dump()),
        shed=[_shed(one, names) for one in about.shed],
        of=_of(about),
        transactions=findings.transactions,
        invalid={why: n for why, n in findings.invalid.items() if n},
        records=findings.records,
        lost=findings.lost,
        unwound=findings.unwound,
        unrecorded=findings.unrecorded,
        enough=findings.enough,
        server_time=findings.server_time,
        durations=figures.durations(findings),
        between_types=figures.number(findings.between_types),
        on_cpu=figures.figure(findings.on_cpu),
        waiting=figures.number(findings.waiting),
        call_graph_height=findings.call_graph_height,
        equation=figures.equation(findings),
        nodes=nodes,
        pairs=[figures.pair(one) for one in findings.pairs],
        factors=factors,
        tail=[figures.tail(one) for one in findings.tail],
        types=[figures.type_(one) for one in findings.kinds],
        spreads=[_spread(one) for one in drawn.spreads],
        turns=[figures.turn(one) for one in drawn.turns],
        overhead=figures.overhead(findings.overhead, about.budget),
        rounds=[
            document.Round(
                number=one.number,
                reason=whole(one.reason),
                added=[names(function) for function in one.added],
                dropped=[names(function) for function in one.dropped],
                functions=len(one.functions),
                predicted=one.predicted,
            )
            for one in about.rounds
        ],
        naive_rounds=naive_rounds,
        ended=whole(about.ended),
        next=next_step(
            about.name,
            command,
            refine,
            factors,
            nodes,
            findings.enough,
            because,
            [names(function) for function in about.left_out],
            about.budget,
            attached=about.backend == "attach",
            outside=_outside(about),
            unwatched=_unwatched(about, names),
        ),
        refused={names(function): whole(why) for function, why in about.refused.items()},
        left_out=[names(function) for function in about.left_out],
        watching=document.Watching(
            ways=about.watching.ways,
            refused=dict(Counter(whole(why) for why in about.refused.values())),
        ),
        machine=about.machine.model_dump() if about.machine else {},
        notes=[whole(one) for one in about.notes],
        commands=[command, f"tare profile show {shlex.quote(about.name)} --html profile.html"],
    )
    first = [] if about.failure is None else failure.sentences(about.failure, about.rates, names)
    report = report.model_copy(
        update={
            "headline": [
                *map(whole, first),
                *(sentence(one.says) for one in before),
                *headline(report, [sentence(one.says) for one in behind]),
            ]
        }
    )
    return Built(report)


def _unwatched(about: About, names: Callable[[int], str]) -> dict[int | None, Unwatched]:
    """By the function, or None for the transaction, that has no other callee left to watch."""
    return {
        None if source == TRANSACTION else source: Unwatched(
            hot=tuple(names(one) for one in callees if one not in about.refused),
            refused={names(one): whole(about.refused[one]) for one in callees if one in about.refused},
        )
        for source, callees in about.undivided.items()
    }


def _outside(about: About) -> frozenset[int]:
    """Functions of other objects than those that mark transactions."""
    own = {one.object for one in about.functions if one.id in about.markers}
    return frozenset(one.id for one in about.functions if own and one.object not in own)


def _invalid_because(findings: Findings, about: About) -> tuple[Invalidity, ...]:
    """The gravest first; none: the profile is valid."""
    found = invalidities(findings.transactions, findings.invalid, findings.overhead, about.budget)
    if about.failure is None:
        return found
    hangs = about.failure.kind is FailureKind.SERVER_HANGS
    return (Invalidity.SERVER_HANGS if hangs else Invalidity.SERVER_ENDED, *found)


def _failure(about: About, names: Callable[[int], str]) -> document.Failure | None:
    of = about.failure
    if of is None:
        return None
    said = of.model_dump(exclude={"function"})
    return document.Failure(**said, function="" if of.function is None else names(of.function))


def _shed(of: Shed, names: Callable[[int], str]) -> document.Shed:
    return document.Shed(
        round=of.round,
        functions=[names(one) for one in of.functions],
        predicted=list(of.predicted),
        measure=of.measure,
        overhead=document.Figure(value=of.value, low=of.low, high=of.high),
        pairs=of.pairs,
        allowed=of.allowed,
        left=of.left,
    )


def _spread(of: Spread) -> document.Spread:
    return document.Spread(
        name=whole(of.name) or figures.NO_LABEL,
        histogram=list(of.histogram),
        slower=list(of.slower),
    )


def _of(about: About) -> document.Of:
    said = about.model_dump(include=set(document.Of.model_fields))
    return document.Of.model_validate(
        {one: whole(of) if isinstance(of, str) else of for one, of in said.items()}
    )


def _title(about: About) -> str:
    of = f"{dbms_name(about.dbms)} {about.dbms_version}".strip() if about.dbms else about.server or about.name
    return f"What makes transactions of {of} unpredictable"
