"""The report in the forms that were asked for."""

from __future__ import annotations

from collections.abc import Mapping

from tare.report.oltp import json, markdown, text
from tare.report.oltp.build import Built
from tare.report.page import write


def deliver(built: Built, given: Mapping[str, str | None]) -> None:
    """With nothing asked for, the findings are printed. Raises ExportFailed."""
    exporters = {
        "html": lambda: _html(built),
        "markdown": lambda: markdown.render(built.report),
        "json": lambda: json.render(built.report),
    }
    write.deliver(given, exporters, lambda: text.render(built.report))


def _html(built: Built) -> str:
    from tare.report.oltp.html import render  # brings the template engine and the charts' library

    return render(built)
