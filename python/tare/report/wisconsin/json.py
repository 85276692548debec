"""The report as JSON, as `schemas/wisconsin-v1.json` describes it."""

from __future__ import annotations

from tare.report.json import laid_out
from tare.report.wisconsin.document import WisconsinReport


def render(report: WisconsinReport) -> str:
    return laid_out(report.model_dump(mode="json", by_alias=True)) + "\n"
