"""All charts of a run's report, in the order of the page."""

from __future__ import annotations

from tare.report.charts.chart import Chart, NoChart
from tare.report.oltp.charts import distribution, latency, measures, throughput
from tare.report.oltp.document import OltpReport
from tare.workload.oltp.run import OltpRun


def charts(report: OltpReport, run: OltpRun) -> list[Chart | NoChart]:
    drawn: list[Chart | NoChart | None] = [
        latency.chart(report),
        throughput.chart(report),
        throughput.backlog(report),
        distribution.histogram(report, run),
        distribution.tail(report, run),
        *measures.charts(report),
    ]
    return [one for one in drawn if one is not None]
