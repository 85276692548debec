"""The report of some runs, from what the protocols and the models left, and the charts that go with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tare.errors import UsageError
from tare.lab.answers import rows
from tare.lab.frames import Frames, open_frames
from tare.protocol.model.result import ModelResult, Verdict
from tare.protocol.outcome import Outcome
from tare.report.conditions import gathered
from tare.report.conditions.facts import Facts, facts_of
from tare.report.experiment.document import (
    Check,
    Correlation,
    Model,
    Post,
    Precise,
    Protocol,
    QatC,
    Report,
    Rule,
    Step,
)
from tare.report.experiment.paper import CHECKS, POST
from tare.report.experiment.sources import parts_of
from tare.report.experiment.statement import statement
from tare.report.experiment.times import times
from tare.report.origin import written_at, written_by
from tare.report.safe import lab_name
from tare.report.words import protocol_name

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

PROTOCOLS = ("ttp1", "ttp2", "exact")
MODELS = ("ttp2", "ttp1")
MOST_EXAMPLE = 300  # characters of evidence


@dataclass(frozen=True)
class Built:
    """`report` holds every number of the report; `draw` draws its charts, which only a page shows."""

    report: Report
    draw: Callable[[], Sequence[Chart | NoChart]]

    @cached_property
    def charts(self) -> Sequence[Chart | NoChart]:
        return self.draw()


def build(
    frames: Frames,
    facts: Sequence[Facts],
    outcomes: Sequence[Outcome],
    models: Sequence[ModelResult],
    *,
    lab: str,
    primary: str | None = None,
    title: str | None = None,
) -> Built:
    """`outcomes`: of every protocol, over these frames; `lab`: its name without a password.

    `primary` names the protocol whose times come first; None takes TTPv2 where it applies, else the exact one.
    """
    first, why = _primary(outcomes, facts, primary)
    chosen = next(one for one in outcomes if one.protocol == first)
    of_time = times(outcomes, first, frames)
    document = _document(frames, facts, outcomes, models, first, why, lab, title, of_time)

    def draw() -> Sequence[Chart | NoChart]:
        from tare.report.experiment.charts.draw import charts

        return charts(frames, outcomes, chosen, models, of_time, document.runs)

    return Built(document, draw)


def _document(
    frames: Frames,
    facts: Sequence[Facts],
    outcomes: Sequence[Outcome],
    models: Sequence[ModelResult],
    primary: str,
    why: str,
    lab: str,
    title: str | None,
    of_time: list[QatC],
) -> Report:
    machines = gathered.machines(facts)
    runs = gathered.runs(facts, frames)
    accepted = list(dict.fromkeys(name for one in outcomes for name in one.accepted))
    return Report(
        title=title or _title(facts),
        written_at=written_at(),
        written_by=written_by(),
        lab=lab,
        primary=primary,
        primary_why=why,
        machines=machines,
        runs=runs,
        missing=gathered.missing(frames),
        protocols=[
            Protocol(
                protocol=one.protocol,
                label=protocol_name(one.protocol),
                title=one.title,
                citation=one.citation,
                min_qes=one.min_qes,
                accepted=list(one.accepted),
                stopped=one.stopped,
                checks=[_check(one, check) for check in one.checks],
                remaining=[
                    Step(
                        step=step.step, source=step.source, qes=step.qes, qatcs=step.qatcs,
                        dropped_qes=step.dropped_qes, dropped_qatcs=step.dropped_qatcs,
                    )
                    for step in one.remaining
                ],
                rules=_rules(one),
                post=[
                    Post(
                        number=post.number, name=post.name, source=post.source, value=post.value,
                        unit="count" if post.unit == "count" else "share", reason=post.reason,
                        detail=list(post.detail), paper=POST.get((one.protocol, post.number)),
                    )
                    for post in one.post
                ],
                precision=Precise(
                    sanity_checks=len(one.checks) + len(one.post),
                    retained_qatcs=one.precision.retained_qatcs,
                    qes_per_retained_qatc=one.precision.qes_per_retained_qatc,
                    relative_error_measured=one.precision.relative_error_measured,
                    relative_error_calculated=one.precision.relative_error_calculated,
                ),
                deviations=list(one.deviations),
                coefficients={dbms: dict(of) for dbms, of in one.coefficients.items()},
                statement=statement(
                    one, runs, [machine.facts for machine in machines],
                    parts_of(one.qes) if one.qes is not None else (),
                ),
            )
            for one in outcomes
        ],
        times=of_time,
        models=[_model(one) for one in models],
        reproduction=gathered.reproduction(facts, frames),
        commands=commands(facts, primary, accepted),
    )  # fmt: skip


def _title(facts: Sequence[Facts]) -> str:
    names = dict.fromkeys(one.experiment["name"] for one in facts)
    return f"Experiment {', '.join(names)}"


def _primary(outcomes: Sequence[Outcome], facts: Sequence[Facts], asked: str | None) -> tuple[str, str]:
    """TTPv2 rests on one CPU being fought over; on several only the exact protocol has a basis."""
    by_name = {one.protocol: one for one in outcomes}
    if asked:
        return asked, "it was asked for"
    cpus = max((one.run["online_cpus"] for one in facts), default=1)
    ttp2 = by_name.get("ttp2")
    exact = by_name.get("exact")
    if ttp2 and not ttp2.stopped and cpus == 1:
        return "ttp2", "the DBMS was on one CPU, as TTPv2 asks"
    if exact and not exact.stopped:
        reason = f"TTPv2 was stopped ({ttp2.stopped})" if ttp2 and ttp2.stopped else ""
        return "exact", reason or f"TTPv2's I/O estimate has no basis on {cpus} CPUs"
    first = next((one for one in outcomes if not one.stopped), None)
    if first is None:
        return (ttp2 or outcomes[0]).protocol, "no protocol came to its end"
    return first.protocol, "no other protocol came to its end"


def _check(outcome: Outcome, check: object) -> Check:
    from tare.protocol.outcome import CheckCount

    assert isinstance(check, CheckCount)
    return Check(
        number=check.number, name=check.name, source=check.source, level=check.level.value, judged=check.judged,
        violations=check.violations, share=check.share, unjudged=check.unjudged,
        paper=CHECKS.get((outcome.protocol, check.level.value, check.number)),
    )  # fmt: skip


def _rules(outcome: Outcome) -> list[Rule]:
    if outcome.exclusions is None:
        return []
    gone = outcome.exclusions
    by = ["level", "step", "number", "rule", "source"]
    counted = gone.group_by(by).agg(dropped=gone.count(), example=gone.evidence.min())
    found = rows(counted.order_by(["step", "level", "number"]))
    return [
        Rule(
            level=row["level"], step=str(row["step"]), number=row["number"], rule=row["rule"],
            source=row["source"] or "", dropped=row["dropped"], example=(row["example"] or "")[:MOST_EXAMPLE],
        )
        for row in found
    ]  # fmt: skip


def _model(result: ModelResult) -> Model:
    pooled = [one.verdict for one in result.pooled()]
    return Model(
        model=result.model,
        title=result.title,
        citation=result.citation,
        qes=result.qes,
        dbmses=list(result.dbmses),
        verdicts={verdict.value: pooled.count(verdict) for verdict in Verdict},
        observed=[
            Correlation(
                name=of.name, group=of.group, cause=of.cause_label, effect=of.effect_label,
                predicted=of.predicted.value, source=of.source, dbms=one.dbms, n=one.n, r=one.r, p=one.p,
                published=of.published, verdict=one.verdict.value, reason=one.reason,
            )
            for one in result.observed
            for of in (one.relationship,)
        ],
    )  # fmt: skip


def make(
    where: str,
    runs: Sequence[str],
    *,
    accept: Sequence[str] = (),
    primary: str | None = None,
    title: str | None = None,
) -> Built:
    """`where`: a lab, or the folder of an export; `accept`: experiment-wide checks taken as deviations.

    Raises NoSuchRun, LabError, ForeignFile, UsageError.
    """
    from tare.protocol import run_protocol
    from tare.protocol.model.holding import hold

    frames = open_frames(where, runs)
    outcomes = [run_protocol(frames, name, accept=of) for name, of in _accepted(accept).items()]
    models = [hold(frames, name) for name in MODELS]
    return build(
        frames,
        facts_of(where, _ids(frames)),
        outcomes,
        models,
        lab=lab_name(where),
        primary=primary,
        title=title,
    )


def _accepted(accept: Sequence[str]) -> dict[str, list[str]]:
    """By protocol: each has checks of its own. Raises UsageError for a check that none has."""
    from tare.protocol.run import METHODS
    from tare.protocol.step1 import ALL

    checks = {name: [check.name for check in METHODS[name].experiment] for name in PROTOCOLS}
    known = dict.fromkeys(check for names in checks.values() for check in names)
    for name in accept:
        if name not in known and name != ALL:
            raise UsageError(
                f"--accept {name}: no protocol has such an experiment-wide check",
                f"give one of {', '.join(known)}, {ALL}",
            )
    return {
        name: [check for check in names if check in accept or ALL in accept] for name, names in checks.items()
    }


def _ids(frames: Frames) -> list[int]:
    return [run["id"] for run in rows(frames.run.select("id").order_by("id"))]


def commands(facts: Sequence[Facts], primary: str, accepted: Sequence[str]) -> list[str]:
    """Return the commands that run the experiment, and then make this report, once more."""
    names = list(dict.fromkeys(one.experiment["name"] for one in facts))
    accept = "".join(f' --accept "{name}"' for name in accepted)
    return [
        *(f"tare experiment run {name}.toml --lab lab.db" for name in names),
        "tare lab list --lab lab.db",
        f"tare protocol RUN… --lab lab.db --protocol {primary}{accept}",
        f"tare report RUN… --lab lab.db --html report.html{accept}",
    ]
