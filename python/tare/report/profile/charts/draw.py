"""All charts of a profile's report, in the order of the page."""

from __future__ import annotations

from tare.report.charts.chart import Chart, NoChart
from tare.report.profile.charts import cpu, durations, icicle, tail, windows
from tare.report.profile.document import ProfileReport


def charts(report: ProfileReport) -> list[Chart | NoChart]:
    drawn: list[Chart | NoChart | None] = [
        icicle.chart(report),
        durations.histogram(report),
        durations.slower(report),
        cpu.chart(report),
        tail.chart(report),
        windows.chart(report),
    ]
    return [one for one in drawn if one is not None]
