"""The report in the forms that were asked for."""

from __future__ import annotations

from collections.abc import Mapping

from tare.report import json
from tare.report.experiment import markdown
from tare.report.experiment.build import Built
from tare.report.page import write


def deliver(built: Built, given: Mapping[str, str | None]) -> None:
    """With nothing asked for, the two paragraphs are printed. Raises ExportFailed."""
    exporters = {
        "html": lambda: _html(built),
        "markdown": lambda: markdown.render(built.report),
        "json": lambda: json.render(built.report),
    }
    write.deliver(given, exporters, lambda: paragraphs(built))


def paragraphs(built: Built) -> str:
    primary = built.report.protocol(built.report.primary)
    return "\n\n".join(primary.statement.paragraphs) + "\n" if primary else ""


def _html(built: Built) -> str:
    from tare.report.experiment.html import render  # brings the template engine and the charts' library

    return render(built)
