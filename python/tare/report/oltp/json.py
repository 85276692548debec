"""The report as JSON, as `schemas/oltp-v1.json` describes it."""

from __future__ import annotations

from tare.report.json import laid_out
from tare.report.oltp.document import OltpReport


def render(report: OltpReport) -> str:
    return laid_out(report.model_dump(mode="json", by_alias=True)) + "\n"
