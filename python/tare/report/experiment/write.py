"""Where a report goes: files, whole or not at all, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.report.atomic import write
from tare.report.experiment import json, markdown
from tare.report.experiment.build import Built


def _html(built: Built) -> str:
    from tare.report.experiment.html import render  # brings the template engine and the charts' library

    return render(built)


EXPORTERS: Mapping[str, Callable[[Built], str]] = {
    "html": _html,
    "markdown": lambda built: markdown.render(built.report),
    "json": lambda built: json.render(built.report),
}
"""By the name of the option that asks for it."""


def deliver(built: Built, given: Mapping[str, str | None]) -> None:
    """Files first, since standard output may be a pipe whose reader has gone. With nothing asked for, the two
    paragraphs are printed. Raises ExportFailed."""
    asked = {name: target for name, target in given.items() if target}
    for name, target in asked.items():
        if target != "-":
            write(Path(target), EXPORTERS[name](built))
    text = next((EXPORTERS[name](built) for name, target in asked.items() if target == "-"), None)
    if text is None and not asked:
        text = paragraphs(built)
    if text is not None:
        sys.stdout.write(text)


def paragraphs(built: Built) -> str:
    primary = built.report.protocol(built.report.primary)
    return "\n\n".join(primary.statement.paragraphs) + "\n" if primary else ""
