"""The report as JSON, as `schemas/report-v1.json` describes it."""

from __future__ import annotations

from tare.report.experiment.document import Report
from tare.report.json import laid_out


def render(report: Report) -> str:
    return laid_out(report.model_dump(mode="json", by_alias=True)) + "\n"
