"""Where a report goes: files, whole or not at all, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.files import write


def deliver(
    given: Mapping[str, str | None], exporters: Mapping[str, Callable[[], str]], otherwise: Callable[[], str]
) -> None:
    """`given`: a path, "-" for standard output, or None, by the name of the option, which is its exporter's.

    Files first, since standard output may be a pipe whose reader has gone. With nothing asked for, `otherwise`
    is printed. Raises ExportFailed."""
    asked = {name: target for name, target in given.items() if target}
    for name, target in asked.items():
        if target != "-":
            write(Path(target), exporters[name]())
    shown = [exporters[name] for name, target in asked.items() if target == "-"]
    for export in shown if asked else [otherwise]:
        sys.stdout.write(export())
