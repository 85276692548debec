"""All charts of the benchmark's report, in the order of the page."""

from __future__ import annotations

from tare.report.charts.chart import Chart, NoChart
from tare.report.wisconsin.charts import classes, sizes, years
from tare.report.wisconsin.document import WisconsinReport
from tare.report.wisconsin.measured import Measurements
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.query import Class


def charts(measured: Measurements, report: WisconsinReport) -> list[Chart | NoChart]:
    drawn: list[Chart | NoChart | None] = [years.chart(measured, report)]
    every = [(generation, kind) for generation in Generation for kind in Class]
    drawn += [classes.chart(measured, *one) for one in every]
    drawn += [sizes.chart(measured, report.slopes, *one) for one in every]
    return [one for one in drawn if one is not None]
