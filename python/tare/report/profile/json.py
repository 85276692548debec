"""The report as JSON, as `schemas/profile-v1.json` describes it."""

from __future__ import annotations

from tare.report.json import laid_out
from tare.report.profile.document import ProfileReport


def render(report: ProfileReport) -> str:
    return laid_out(report.model_dump(mode="json", by_alias=True)) + "\n"
