"""Where the report goes: files, whole or not at all, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.report.atomic import write
from tare.report.wisconsin import json, markdown, text
from tare.report.wisconsin.build import Built


def _html(built: Built) -> str:
    from tare.report.wisconsin.html import render  # brings the template engine and the charts' library

    return render(built)


EXPORTERS: Mapping[str, Callable[[Built], str]] = {
    "html": _html,
    "markdown": lambda built: markdown.render(built.report),
    "json": lambda built: json.render(built.report),
}
"""By the name of the option that asks for it."""


def deliver(built: Built, given: Mapping[str, str | None]) -> None:
    """Files first, since standard output may be a pipe whose reader has gone. With nothing asked for, the
    findings are printed. Raises ExportFailed."""
    asked = {name: target for name, target in given.items() if target}
    for name, target in asked.items():
        if target != "-":
            write(Path(target), EXPORTERS[name](built))
    shown = next((EXPORTERS[name](built) for name, target in asked.items() if target == "-"), None)
    if shown is None and not asked:
        shown = text.render(built.report)
    if shown is not None:
        sys.stdout.write(shown)
