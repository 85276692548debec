"""From what a profile found to its report and charts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

from tare.lab.profile_about import About
from tare.protocol.profile.found import Findings
from tare.protocol.profile.reservations import MOST_INVALID, invalid_share
from tare.report.charts.chart import Chart, NoChart
from tare.report.profile import document, figures
from tare.report.profile.document import ProfileReport
from tare.report.profile.drawn import Drawn, Spread
from tare.report.profile.headline import grave_warnings, headline
from tare.report.profile.next import next_step
from tare.report.words import dbms_name, sentence


@dataclass(frozen=True)
class Built:
    """`report` is all that is said in numbers; the charts are drawn beside it, in HTML only."""

    report: ProfileReport
    charts: Sequence[Chart | NoChart] = field(default=())


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
    from tare.report.profile.charts.draw import charts

    drawn = drawn or Drawn()
    known = {one.id: figures.name(one.name) for one in about.functions}
    command = shlex.join(about.command)

    def names(function: int) -> str:
        return known.get(function, f"function {function}")

    nodes = [figures.node(one) for one in findings.nodes]
    factors = [figures.factor(one) for one in findings.factors]
    valid = _valid(findings)
    grave = grave_warnings(findings, valid)
    report = ProfileReport(
        title=figures.name(title or _title(about)),
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        written_by=version("tare-db"),
        run=about.name,
        started_at=about.when,
        valid=valid,
        headline=[],
        warnings=[sentence(figures.name(one)) for one in findings.warnings if one not in grave],
        of=_of(about),
        transactions=findings.transactions,
        invalid={why: n for why, n in findings.invalid.items() if n},
        records=findings.records,
        lost=findings.lost,
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
        overhead=figures.overhead(findings.overhead),
        rounds=[
            document.Round(
                number=one.number,
                reason=figures.name(one.reason),
                added=[names(function) for function in one.added],
                dropped=[names(function) for function in one.dropped],
                functions=len(one.functions),
                predicted=one.predicted,
            )
            for one in about.rounds
        ],
        naive_rounds=naive_rounds,
        ended=figures.name(about.ended),
        next=next_step(
            about.name,
            command,
            refine,
            factors,
            nodes,
            findings.enough,
            valid,
            [names(function) for function in about.left_out],
            about.budget,
            attached=about.backend == "attach",
            outside=_outside(about),
        ),
        refused={names(function): figures.name(why) for function, why in about.refused.items()},
        left_out=[names(function) for function in about.left_out],
        machine=about.machine.model_dump() if about.machine else {},
        notes=[figures.name(one) for one in about.notes],
        commands=[command, f"tare profile show {shlex.quote(about.name)} --html profile.html"],
    )
    report = report.model_copy(update={"headline": [*map(sentence, grave), *headline(report)]})
    return Built(report, charts(report))


def _outside(about: About) -> frozenset[int]:
    """Functions of other objects than those that mark transactions."""
    own = {one.object for one in about.functions if one.id in about.markers}
    return frozenset(one.id for one in about.functions if own and one.object not in own)


def _valid(findings: Findings) -> bool:
    share = invalid_share(findings.transactions, findings.invalid)
    return findings.transactions > 0 and share <= MOST_INVALID


def _spread(of: Spread) -> document.Spread:
    return document.Spread(
        name=figures.name(of.name) or figures.NO_LABEL,
        histogram=list(of.histogram),
        slower=list(of.slower),
    )


def _of(about: About) -> document.Of:
    said = {one: getattr(about, one) for one in document.Of.model_fields}
    return document.Of.model_validate(
        {one: figures.name(of) if isinstance(of, str) else of for one, of in said.items()}
    )


def _title(about: About) -> str:
    of = f"{dbms_name(about.dbms)} {about.dbms_version}".strip() if about.dbms else about.server or about.name
    return f"What makes transactions of {of} unpredictable"
