"""From the series of a lab to the report of their changes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tare.lab.measurements import Point, Series
from tare.protocol.changepoints import FEWEST_POINTS, LEVEL, MOST_POINTS, change_points
from tare.protocol.compare import ratio_of
from tare.report.comparison import COMPARED
from tare.report.trend.document import ChangeReport, PointReport, SeriesReport, TrendGate, TrendReport
from tare.report.words import counted, dbms_name
from tare.version import VERSION


@dataclass(frozen=True, slots=True)
class Gate:
    """`margin`: slowdown that fails it, 0.05 for 5%. `last`: newest points of a series that are judged."""

    margin: float
    last: int


def build(
    lab: str, found: Sequence[Series], measure: str, gate: Gate | None = None, title: str | None = None
) -> TrendReport:
    """`lab`: where the series are from, without a password. Series without the measure are left out."""
    reports = [report for one in found if (report := _series(one, measure)) is not None]
    failed = [] if gate is None else [one.query for one in reports if _fails(one, gate)]
    return TrendReport(
        title=title or "Trend",
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        written_by=VERSION,
        lab=lab,
        measure=measure,
        level=LEVEL,
        headline=_headline(reports),
        series=reports,
        gate=None
        if gate is None
        else TrendGate(margin=gate.margin, last=gate.last, failed=list(dict.fromkeys(failed))),
    )


def sentence(one: SeriesReport, change: ChangeReport) -> str:
    """Sentence on a change: the query, by how much, and where."""
    percent = (change.ratio - 1) * 100
    size = f"{abs(percent):.1f}%"
    if change.low is not None and change.high is not None:
        ends = sorted(abs(end - 1) * 100 for end in (change.low, change.high))
        size += f" [{ends[0]:.1f}, {ends[1]:.1f}]"
    at = f"commit {change.code[:12]}" if change.code else f"{change.started_at[:16].replace('T', ' ')} UTC"
    way = "slower" if percent > 0 else "faster"
    return f"Query {one.query} became {size} {way} at {at} on {dbms_name(one.dbms)}, {one.machine_name}"


def _series(one: Series, measure: str) -> SeriesReport | None:
    points = [point for point in one.points if point.samples.get(measure)]
    if not points:
        return None
    left_out = max(0, len(points) - MOST_POINTS)
    points = points[left_out:]
    values = [statistics.median(point.samples[measure]) for point in points]
    is_positive = min(values) > 0
    places = change_points([math.log(value) for value in values]) if is_positive else []
    bounds = [0, *places, len(points)]
    changes = [
        _change(points, values, before, place, end)
        for before, place, end in zip(bounds, places, bounds[2:], strict=False)
    ]
    latest = points[-1]
    return SeriesReport(
        query=one.name,
        dbms=one.dbms,
        version=latest.version,
        cache=one.cache,
        machine=one.hardware,
        machine_name=f"{latest.machine.cpu_model}, {counted(latest.machine.usable_cpus, 'CPU')}",
        unit=COMPARED[measure].unit,
        points=[
            PointReport(
                number=point.number,
                started_at=point.started_at,
                code=point.code,
                value=value,
                runs=len(point.samples[measure]),
            )
            for point, value in zip(points, values, strict=True)
        ],
        left_out=left_out,
        changes=changes,
        is_enough=len(points) >= FEWEST_POINTS,
    )


def _change(
    points: Sequence[Point], values: Sequence[float], before: int, place: int, end: int
) -> ChangeReport:
    ratio = ratio_of(values[before:place], values[place:end])
    assert ratio is not None, "values are positive"
    return ChangeReport(
        place=place,
        code=points[place].code,
        code_before=points[place - 1].code,
        started_at=points[place].started_at,
        ratio=ratio.estimate,
        low=ratio.ci95.low if ratio.ci95 else None,
        high=ratio.ci95.high if ratio.ci95 else None,
        besides=_besides(points[place - 1], points[place]),
    )


def _besides(before: Point, after: Point) -> list[str]:
    facts = [
        ("DBMS", before.version, after.version),
        ("kernel", before.machine.kernel, after.machine.kernel),
        ("operating system", before.machine.operating_system, after.machine.operating_system),
        ("Tare", before.machine.tare, after.machine.tare),
    ]
    return [f"{name} {old} to {new}" for name, old, new in facts if old != new]


def is_slower(change: ChangeReport) -> bool:
    return change.ratio > 1


def _fails(one: SeriesReport, gate: Gate) -> bool:
    recent = len(one.points) - gate.last
    return any(change.place >= recent and change.ratio > 1 + gate.margin for change in one.changes[-1:])


def _headline(reports: Sequence[SeriesReport]) -> str:
    """The largest of the changes that each series saw last, slower ones first; else that there is none, or no
    baseline."""
    latest = [(one, one.changes[-1]) for one in reports if one.changes]
    if latest:
        one, change = max(latest, key=lambda pair: (is_slower(pair[1]), abs(math.log(pair[1].ratio))))
        more = len(latest) - 1
        others = f"; {counted(more, 'other series', 'other series')} changed, too" if more else ""
        return f"{sentence(one, change)}{others}."
    enough = sum(one.is_enough for one in reports)
    if not reports:
        return "No baseline yet: nothing is recorded."
    if not enough:
        most = max(len(one.points) for one in reports)
        return f"No baseline yet: {counted(most, 'measurement')} of a series at most, and {FEWEST_POINTS} are needed."
    return f"No change in {counted(enough, 'series', 'series')} of {FEWEST_POINTS} or more measurements."
