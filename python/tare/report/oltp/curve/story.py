"""The story of a curve: the knee or the capacity first, then the curve, its steps, and what saturates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.lab.ids import oltp_id
from tare.protocol.oltp.capacity import Capacity
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Code,
    Column,
    Facts,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.figure import Figure
from tare.report.oltp import words
from tare.report.oltp.curve.build import Built
from tare.report.oltp.curve.document import Arm, CurveReport, Step
from tare.report.oltp.curve.lines import lines
from tare.report.oltp.curve.points import load_of
from tare.report.oltp.document import Figure as Estimate
from tare.report.oltp.story import cell
from tare.report.words import NOTHING, dbms_name

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_RESOLVED = 3  # significant digits of a percentile
_MARKS = {
    Capacity.SUSTAINED: "",
    Capacity.OVER: "over capacity",
    Capacity.CHANGED_REGIME: "changed regime",
    Capacity.FAILED: "failed",
}

READING = (
    "Every step is an open-loop run of its own with warm-up and drain; no figure is averaged over steps. In brackets: "
    "95% intervals from blocks of a step's seconds. Steps at one rate are spread over the curve in mirrored order, so "
    "that growing tables do not fall on one rate. A step is over capacity if its rate was missed, its backlog grew or "
    "more than 1% of its transactions were given up. It changed regime if the median of one of its windows is four "
    "times that of another while all connections were busy."
)


def story(built: Built) -> Story:
    report = built.report
    runs = [step.run for step in report.steps if step.run]
    ids = f"runs {oltp_id(min(runs))} to {oltp_id(max(runs))}" if runs else "runs that are not in the lab"
    begun = report.steps[0].started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"{ids} · begun {begun} UTC · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _blocks(built: Built) -> Iterator[Block]:
    report = built.report
    yield Verdict("", report.headline[0], _tone(report))
    for sentence in report.headline[1:]:
        yield Paragraph(sentence)
    yield Section(
        "curve", "Latency over rate", [Charts(partial(_charts, built), lines=partial(lines, report))]
    )
    yield Section("steps", "Steps", [_times(report), _moments(report), Paragraph(READING, Tone.QUIET)])
    yield Section("saturation", "Saturation", [_loads(report)])
    why = [step for step in report.steps if not step.is_result]
    if why:
        yield Section("over", "Steps that are no results", [_reasons(report, why)])
    yield Section(
        "conditions",
        "Conditions",
        [Facts(arm.label, list(_facts(arm))) for arm in report.arms],
        printed=False,
    )
    yield Section("reproduce", "Reports of the same steps", [Code("\n".join(report.commands))], printed=False)


def _charts(built: Built) -> Sequence[Chart | NoChart]:
    return built.charts


def _tone(report: CurveReport) -> Tone:
    if report.failures or report.conditions_failing or not any(step.is_result for step in report.steps):
        return Tone.BAD
    if any(step.disturbed for step in report.steps):
        return Tone.CAUTION
    closed = all(knee.rate is not None and knee.above is not None for knee in report.knees)
    return Tone.GOOD if closed else Tone.CAUTION


def _by_arm(report: CurveReport, steps: Sequence[Step]) -> Iterator[str | Step]:
    """Steps by rate, below the label of their arm where there are several."""
    for arm, found in enumerate(report.arms):
        mine = sorted(
            (step for step in steps if step.arm == arm), key=lambda step: (step.requested, step.number)
        )
        if mine and len(report.arms) > 1:
            yield found.label
        yield from mine


def _times(report: CurveReport) -> Table:
    rows: list[Row | str] = [
        step if isinstance(step, str) else [_rate(step), *_figures(step)]
        for step in _by_arm(report, report.steps)
    ]
    return Table(
        "Response times, ms; an asterisk marks a step that is no result",
        [
            Column("rate", Kind.NAME),
            *map(Column, ("sustained", "p50", "p99 [95%]", "p99.9", "longest")),
        ],
        rows,
        grouped=True,
    )


def _figures(step: Step) -> list[Cell]:
    times = step.response
    tone = Tone.PLAIN if step.is_result else Tone.QUIET
    found = [
        Cell(words.rate(step.sustained), note="" if step.is_result else "*"),
        _value(times.p50),
        cell(times.p99, _RESOLVED) if step.is_result else _value(times.p99),
        _value(times.p99_9),
        _value(times.max),
    ]
    return [Cell(one.value, one.unit, one.interval, one.note, tone=tone) for one in found]


def _value(found: Estimate | float | None) -> Cell:
    value = found.value if isinstance(found, Estimate) else found
    return Figure(value, digits=_RESOLVED).cell(bare=True)


def _rate(step: Step) -> str:
    return words.rate(step.requested)


def _moments(report: CurveReport) -> Table:
    rows: list[Row | str] = [
        step
        if isinstance(step, str)
        else [
            _rate(step),
            cell(step.response.mean) if step.is_result else _value(step.response.mean),
            _value(step.response.sd),
            _value(step.service.p50),
            _value(step.service.p99),
            _value(step.service.mean),
        ]
        for step in _by_arm(report, report.steps)
    ]
    headings = ("mean [95%]", "sd", "service p50", "service p99", "service mean")
    return Table(
        "Mean and standard deviation of response times, and service times; ms",
        [Column("rate", Kind.NAME), *map(Column, headings)],
        rows,
        grouped=True,
    )


_LOADS = {
    "server_cpu": "server CPU",
    "driver_cpu": "driver CPU",
    "server_run_queue": "run queue",
    "server_block_io": "disk",
    "waiting_io": "I/O",
    "lock_wait_time": "row locks",
    "waiting_lock": "locks",
    "waiting_lwlock": "LWLocks",
}


def _loads(report: CurveReport) -> Table:
    names = [name for name in _LOADS if any(load_of(step, name) is not None for step in report.steps)]
    rows: list[Row | str] = [
        step if isinstance(step, str) else [_rate(step), *(_threads(load_of(step, name)) for name in names)]
        for step in _by_arm(report, report.steps)
    ]
    return Table(
        "Threads on a CPU, threads that wait for one, and sessions that wait, on average",
        [Column("rate", Kind.NAME), *(Column(_LOADS[name]) for name in names)],
        rows,
        grouped=True,
    )


def _threads(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _reasons(report: CurveReport, steps: Sequence[Step]) -> Table:
    rows: list[Row | str] = [
        step if isinstance(step, str) else [_rate(step), str(step.run), _MARKS[step.capacity], step.why]
        for step in _by_arm(report, steps)
    ]
    return Table(
        "Why these steps are no results",
        [
            Column("rate", Kind.NAME),
            Column("run", Kind.NAME),
            Column("capacity", Kind.NAME),
            Column("why", Kind.PROSE),
        ],
        rows,
        grouped=True,
    )


def _facts(arm: Arm) -> Iterator[tuple[str, str]]:
    yield "workload", f"{arm.workload}, scale {arm.scale:g}"
    yield "server", f"{dbms_name(arm.server.dbms)} {arm.server.version} ({arm.server.url})"
    yield "arrivals", f"open loop, {arm.arrivals}"
    yield "connections", str(arm.connections)
    yield "isolation", arm.isolation
    yield "mix", ", ".join(f"{name} {share:.4g}%" for name, share in arm.mix.items() if share)
    yield (
        "each step",
        f"{words.seconds(arm.duration_s)} measured, {words.seconds(arm.warmup_s)} warm-up, "
        f"{words.seconds(arm.drain_s)} drain at most",
    )
