"""What an exporter owes: a result document in, a text out. One exporter a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tare.files import write
from tare.report import csv, json, markdown
from tare.report.result import RunResult


class Exporter(Protocol):
    def __call__(self, result: RunResult) -> str:
        """The whole text of the file, with its last newline."""


EXPORTERS: Mapping[str, Exporter] = {"json": json.render, "markdown": markdown.render, "csv": csv.render}
"""By the name of the option that asks for it."""


def export(result: RunResult, name: str, path: Path) -> None:
    """Writes one export. Raises ExportFailed; nothing half-written is left."""
    write(path, EXPORTERS[name](result))
