"""From a finished run to its report and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tare.lab.oltp import load
from tare.lab.store import find_oltp_run, open_lab
from tare.protocol.oltp.precision import precision
from tare.report.oltp import document, figures
from tare.report.oltp.commands import commands
from tare.report.oltp.document import OltpReport, Stall
from tare.report.oltp.headline import headline
from tare.report.oltp.reasons import reasons
from tare.report.oltp.words import workload
from tare.report.origin import written_at, written_by
from tare.report.safe import lab_name
from tare.report.words import dbms_name
from tare.workload.oltp.distribution import MS
from tare.workload.oltp.measures.names import NAMES
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Checked, Quick, Second
from tare.workload.oltp.verdict import Fact

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_S = 1e9
_ORDER = {name: place for place, name in enumerate(NAMES)}


@dataclass(frozen=True)
class Built:
    """`report` holds every number of the report; its charts are drawn when a page shows them."""

    report: OltpReport
    run: OltpRun

    @cached_property
    def charts(self) -> Sequence[Chart | NoChart]:
        """In the order of the page."""
        from tare.report.oltp.charts import distribution, latency, measures, throughput

        drawn: list[Chart | NoChart | None] = [
            latency.chart(self.report),
            throughput.chart(self.report),
            throughput.backlog(self.report),
            distribution.histogram(self.report, self.run),
            distribution.tail(self.report, self.run),
            *measures.charts(self.report),
        ]
        return [chart for chart in drawn if chart is not None]


def build(run: OltpRun, run_id: int, *, lab: str, title: str | None = None) -> Built:
    """`run_id`: number of the run in the lab, 0 for a run that could not be recorded. `lab`: its name without a
    password."""
    how = {times: precision(run, times) for times in ("response", "service", "lag")}
    shares = run.shares
    report = OltpReport(
        title=title or f"{workload(run.workload)} on {dbms_name(run.server.dbms)} {run.server.version}",
        written_at=written_at(),
        written_by=written_by(),
        lab=lab,
        run=run_id,
        uuid=run.uuid,
        started_at=run.started_at,
        ended_at=run.ended_at,
        valid=run.is_valid,
        invalid=reasons(run.invalid),
        not_judged=reasons(run.not_judged),
        invalid_facts=[_fact(one) for one in run.invalid],
        not_judged_facts=[_fact(one) for one in run.not_judged],
        freezes=[
            document.Freeze(start_s=one.start_ns / _S, length_s=one.length_ns / _S, waiting=one.waiting)
            for one in run.freezes
        ],
        restarted=run.restarted,
        headline=[],
        server=document.Server(
            dbms=run.server.dbms,
            version=run.server.version,
            settings={str(key): str(value) for key, value in run.server.settings.items()},
            url=run.url,
            local=run.server.local,
        ),
        data=document.Data(
            workload=run.workload,
            scale=run.loaded.scale,
            seed=str(run.loaded.seed),
            options=run.loaded.settings,
        ),
        machine=asdict(run.machine),
        asked=_asked(run),
        held=_held(run),
        precision={times: figures.precision(one) for times, one in how.items()},
        all=figures.type_(run.outcome.all, None, how),
        types=[figures.type_(one, shares.get(one.name, 0.0), how) for one in run.outcome.types],
        seconds=[_second(one) for one in run.seconds],
        stalls=_stalls(run.seconds),
        measures=list(_series(run)),
        unmeasured=dict(run.unmeasured or {}),
        checks=list(_checks(run)),
        troubles=[document.Trouble(at_s=one.at_s, text=one.text) for one in run.troubles],
        deviations=list(run.deviations),
        commands=list(commands(run, run_id, lab)),
    )
    report = report.model_copy(update={"headline": list(headline(report, run))})
    return Built(report, run)


def _fact(fact: Fact) -> document.Fact:
    return document.Fact(kind=fact.kind, figures=fact.model_dump(exclude={"kind"}))


def _asked(run: OltpRun) -> document.Asked:
    asked = run.asked
    return document.Asked(
        arrivals=asked.arrivals,
        trace=asked.trace,
        phases=[document.Phase(rate=one.rate, duration_s=one.duration_s) for one in asked.phases],
        connections=asked.connections,
        seed=str(asked.seed),
        warmup_s=asked.warmup_s,
        drain_s=asked.drain_s,
        tries=asked.tries,
        isolation=asked.isolation,
        mix={name: 100 * share for name, share in run.shares.items()},
        options={str(key): str(value) for key, value in asked.options.items()},
        think=asked.think,
        shed_after_s=asked.shed_after_s,
    )


def _held(run: OltpRun) -> document.Held:
    outcome = run.outcome
    started = outcome.all.counts.started
    intended = outcome.intended_rate
    return document.Held(
        intended_rate=intended,
        rate=outcome.rate,
        off=outcome.rate / intended - 1 if intended else None,
        sustained_rate=run.sustained_rate,
        sustained_off=run.sustained_rate / intended - 1 if intended else None,
        took_s=outcome.took_ns / _S,
        warmup_s=outcome.warmup_ns / _S,
        warmup=figures.counts(outcome.warmup),
        reconnects=outcome.reconnects,
        isolation=run.isolation,
        own_cpu_s=outcome.own.cpu_ns / _S,
        own_cpu_ms_each=outcome.own.cpu_ns / MS / started if started else None,
        own_peak_rss_bytes=outcome.own.peak_rss_bytes,
        samples=outcome.samples,
    )


def _second(of: Second) -> document.Second:
    return document.Second(
        number=of.number,
        phase=of.phase,
        offered=of.counts.offered,
        started=of.counts.started,
        ended=of.counts.finished,
        failed=of.counts.given_up,
        retried=of.counts.retried,
        backlog=of.backlog,
        running=of.running,
        response=_quick(of.response),
        service=_quick(of.service),
        own_cpu_ms=of.own_cpu_ns / MS,
    )


def _quick(of: Quick | None) -> document.Quick | None:
    if of is None:
        return None
    return document.Quick(**{name: getattr(of, name) / MS for name in document.Quick.model_fields})


def _series(run: OltpRun) -> Iterator[document.Series]:
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for one in run.measures:
        found.setdefault((one.name, one.unit), []).append((one.second, one.value))
    for (name, unit), points in sorted(found.items(), key=lambda one: _ORDER.get(one[0][0], len(_ORDER))):
        yield document.Series(name=name, unit=unit, points=sorted(points))


def _checks(run: OltpRun) -> Iterator[document.Check]:
    of: dict[str, dict[str, Checked]] = {}
    for moment, checks in (("before", run.before), ("after", run.after)):
        for one in checks:
            of.setdefault(one.name, {})[moment] = one
    for name, seen in of.items():
        last = seen.get("after") or seen["before"]
        shown = next((one for one in (seen.get("after"), seen.get("before")) if one and one.failing), last)
        yield document.Check(
            name=name,
            says=last.says,
            before=seen["before"].failing if "before" in seen else None,
            after=seen["after"].failing if "after" in seen else None,
            ms=last.took_ns / MS,
            columns=list(shown.columns),
            rows=[list(row) for row in shown.rows],
        )


def _stalls(seconds: Sequence[Second]) -> list[Stall]:
    """Stretches of the measured part in which transactions were due or running, and none came to its end.

    At a rate below one per second a quiet second is no stall, if all that was due has ended."""
    found: list[Stall] = []
    for one in seconds:
        if one.number < 0 or one.counts.finished or not one.backlog + one.running:
            continue
        waiting = one.backlog + one.running
        if found and found[-1].last == one.number - 1:
            found[-1] = Stall(first=found[-1].first, last=one.number, waiting=waiting)
        else:
            found.append(Stall(first=one.number, last=one.number, waiting=waiting))
    return found


def make(where: str, asked: str, *, title: str | None = None) -> Built:
    """Raises NoSuchRun, LabError."""
    with open_lab(where) as lab:
        run_id = find_oltp_run(lab, asked)
        run = load(lab, run_id)
    return build(run, run_id, lab=lab_name(where), title=title)
