"""From the runs of one or several curves to their report."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from tare.lab.ids import oltp_id
from tare.protocol.oltp import capacity
from tare.protocol.oltp.limit import Bracket, Ended, Limit, bracket
from tare.protocol.oltp.precision import precision
from tare.report.oltp import document as oltp
from tare.report.oltp import figures, words
from tare.report.oltp.curve import document
from tare.report.oltp.curve.words import headline, why
from tare.report.origin import written_at, written_by
from tare.report.words import dbms_name
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.measures.names import NAMES
from tare.workload.oltp.run import OltpRun

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_S = 1e9
_QUANTILES = ("p50", "p95", "p99", "p99.9")


@dataclass(frozen=True, slots=True)
class Taken:
    """Sources of a report: runs with their numbers in the lab, and what the lab does not know."""

    runs: Sequence[tuple[int, OltpRun]]  # in the order of the steps; several curves follow one another
    limit: Limit | None = None
    ended: dict[int, Ended] = field(default_factory=dict)  # by arm, for a search
    failures: Sequence[tuple[int, float, str]] = ()  # arm, rate, message
    conditions_failing: Sequence[str] | None = None


@dataclass(frozen=True)
class Built:
    """`report` holds every number; its charts are drawn when a page shows them."""

    report: document.CurveReport

    @cached_property
    def charts(self) -> Sequence[Chart | NoChart]:
        from tare.report.oltp.curve.charts import charts

        return charts(self.report)


def build(taken: Taken, *, lab: str, title: str | None = None) -> Built:
    """Raises ValueError where there is no run."""
    if not taken.runs:
        raise ValueError("a curve without a step")
    arms: dict[tuple[str, int], list[OltpRun]] = defaultdict(list)
    for _, run in taken.runs:
        arms[_arm_key(run)].append(run)
    keys = list(arms) if len({curve for curve, _ in arms}) > 1 else sorted(arms, key=lambda key: key[1])
    places = {key: place for place, key in enumerate(keys)}
    firsts = [arms[key][0] for key in keys]
    steps = [_step(number, run, places[_arm_key(run)]) for number, run in taken.runs]
    known = {place: taken.ended[arm] for (_, arm), place in places.items() if arm in taken.ended}
    report = document.CurveReport(
        title=title or _title(firsts),
        written_at=written_at(),
        written_by=written_by(),
        lab=lab,
        headline=[],
        limit=None if taken.limit is None else document.Limit(figure=taken.limit.figure, ms=taken.limit.ms),
        knees=list(_knees(taken.limit, [arms[key] for key in keys], known)),
        arms=[_arm(run, label) for run, label in zip(firsts, _labels(firsts), strict=True)],
        steps=steps,
        failures=[
            document.Failure(arm=arm, requested=rate, why=text)
            for arm, rate, text in taken.failures
            if arm < len(keys)
        ],
        conditions_failing=None if taken.conditions_failing is None else list(taken.conditions_failing),
        commands=list(_commands(taken, lab)),
    )
    return Built(report.model_copy(update={"headline": list(headline(report))}))


def _arm_key(run: OltpRun) -> tuple[str, int]:
    step = run.asked.step
    return ("", 0) if step is None else (step.curve, step.arm)


def _title(firsts: Sequence[OltpRun]) -> str:
    workloads = dict.fromkeys(words.workload(run.workload) for run in firsts)
    return f"{', '.join(workloads)}: latency over rate"


def _labels(firsts: Sequence[OltpRun]) -> list[str]:
    """Shortest labels that tell the arms apart."""
    parts = (
        lambda run: f"{dbms_name(run.server.dbms)} {run.server.version}",
        lambda run: f"{words.workload(run.workload)} {run.loaded.scale:g}",
        lambda run: run.url.rpartition("@")[2].rpartition("://")[2] or run.url,
        lambda run: f"{run.asked.connections} connections",
        lambda run: run.started_at[:19].replace("T", " "),
    )
    labels = [parts[0](run) for run in firsts]
    for part in parts[1:]:
        texts = [part(run) for run in firsts]
        if len(set(labels)) < len(labels) and len(set(texts)) > 1:
            labels = [f"{label}, {text}" for label, text in zip(labels, texts, strict=True)]
    return labels


def _arm(run: OltpRun, label: str) -> document.Arm:
    step = run.asked.step
    return document.Arm(
        label=label,
        curve=step.curve if step else "",
        workload=run.workload,
        scale=run.loaded.scale,
        server=oltp.Server(
            dbms=run.server.dbms,
            version=run.server.version,
            settings={str(key): str(value) for key, value in run.server.settings.items()},
            url=run.url,
            local=run.server.local,
        ),
        connections=run.asked.connections,
        arrivals=run.asked.arrivals,
        isolation=run.isolation,
        mix={name: 100 * share for name, share in run.shares.items()},
        duration_s=sum(phase.duration_s for phase in run.asked.phases),
        warmup_s=run.asked.warmup_s,
        drain_s=run.asked.drain_s,
        cpus=run.machine.online_cpus,
    )


def _step(number: int, run: OltpRun, arm: int) -> document.Step:
    judged = capacity.judge(run)
    seconds = capacity.measured(run)
    loads = list(_loads(run, {second.number for second in seconds}))
    return document.Step(
        run=number,
        uuid=run.uuid,
        number=run.asked.step.number if run.asked.step else number,
        arm=arm,
        requested=run.asked.phases[0].rate or 0.0,
        due=run.outcome.intended_rate,
        sustained=run.sustained_rate,
        capacity=judged.capacity,
        sign=judged.sign,
        why=why(judged),
        response=_times(run, run.outcome.all.response, "response"),
        service=_times(run, run.outcome.all.service, "service"),
        server_cpu=next((load.mean for load in loads if load.name == "server_cpu"), None),
        driver_cpu=sum(second.own_cpu_ns for second in seconds) / _S / len(seconds) if seconds else 0.0,
        loads=loads,
        windows=[
            document.Window(
                first=window.first,
                last=window.last,
                rate=window.rate,
                p50=window.p50_ms,
                p99=window.p99_ms,
                backlog=window.backlog,
                busy=window.busy,
            )
            for window in capacity.windows(run)
        ],
        disturbed=run.disturbed,
        started_at=run.started_at,
        ended_at=run.ended_at,
    )


def _times(run: OltpRun, times: Distribution, kind: str) -> document.Times:
    found = figures.times(times, precision(run, kind))
    return document.Times.model_validate(
        {
            "n": found.n,
            "mean": found.mean,
            "sd": found.sd,
            **{name: found.quantiles[name] for name in _QUANTILES},
            "max": found.largest,
        }
    )


def _loads(run: OltpRun, seconds: set[int]) -> Iterator[document.Load]:
    """Means of all measures that the server has."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for measure in run.measures:
        if measure.second in seconds:
            values[measure.name, measure.unit].append(measure.value)
    order = {name: place for place, name in enumerate(NAMES)}
    for (name, unit), found in sorted(values.items(), key=lambda item: order.get(item[0][0], len(order))):
        yield document.Load(name=name, unit=unit, mean=sum(found) / len(found))


def _knees(
    budget: Limit | None, arms: Sequence[Sequence[OltpRun]], known: dict[int, Ended]
) -> Iterator[document.Knee]:
    """Knees by the steps alone, so that a grid of rates has one, too."""
    if budget is None:
        return
    for arm, runs in enumerate(arms):
        by_rate: dict[float, list[OltpRun]] = defaultdict(list)
        for run in runs:
            by_rate[run.asked.phases[0].rate or 0.0].append(run)
        rates = sorted(by_rate)
        found = bracket({place: budget.votes(by_rate[rate]) for place, rate in enumerate(rates)})
        began, over = (datetime.fromisoformat(at) for at in (runs[0].started_at, runs[-1].ended_at))
        yield document.Knee(
            arm=arm,
            rate=None if found.low is None else rates[found.low],
            above=None if found.high is None else rates[found.high],
            ended=known.get(arm, _ended(found, len(rates))),
            steps=len(runs),
            minutes=((over - began).total_seconds() + runs[0].outcome.warmup_ns / _S) / 60,
        )


def _ended(found: Bracket, rates: int) -> Ended:
    """State of a curve over given rates, or of a search as the lab has it."""
    if found.low is not None and found.high is not None:
        return Ended.CLOSED
    if found.low == rates - 1:
        return Ended.NOT_REACHED
    return Ended.ALWAYS_ABOVE if found.high == 0 else Ended.UNDECIDED


def _commands(taken: Taken, lab: str) -> Iterator[str]:
    """Commands that report the curves again, and one step by itself."""
    firsts: dict[str, int] = {}
    for number, run in taken.runs:
        firsts.setdefault(_arm_key(run)[0], number)
    ids = [oltp_id(number) for number in firsts.values() if number]
    if ids:
        where = f"--lab {shlex.quote(lab)}"
        yield f"tare bench oltp report {' '.join(ids)} --curve {where} --html curve.html"
        yield f"tare bench oltp report {ids[0]} {where} --html step.html"
