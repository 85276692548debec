"""The report in the forms that were asked for."""

from __future__ import annotations

from collections.abc import Mapping

from tare.report import json
from tare.report.page import write
from tare.report.wisconsin import markdown, text
from tare.report.wisconsin.build import Built


def deliver(built: Built, given: Mapping[str, str | None]) -> None:
    """With nothing asked for, the findings are printed. Raises ExportFailed."""
    exporters = {
        "html": lambda: _html(built),
        "markdown": lambda: markdown.render(built.report),
        "json": lambda: json.render(built.report),
    }
    write.deliver(given, exporters, lambda: text.render(built.report))


def _html(built: Built) -> str:
    from tare.report.wisconsin.html import render  # brings the template engine and the charts' library

    return render(built)
