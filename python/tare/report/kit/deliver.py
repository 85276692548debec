"""Where a report goes: files, whole or not at all, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.errors import ExportFailed
from tare.report.atomic import write

Form = Callable[[], str]


def deliver(
    given: Mapping[str, str | None],
    forms: Mapping[str, Form],
    show: Callable[[], None],
    *,
    always: bool = False,
) -> None:
    """Writes each form that was requested. Without one, or `always` where standard output has no other use, `show`
    prints the report.

    `given`: a path, "-" for standard output, or None, by the name of the option, which is its form's. Files come
    first, since standard output may be a pipe whose reader has gone; one that fails does not keep the others from
    being written. Raises ExportFailed."""
    requested = {name: target for name, target in given.items() if target}
    failures = []
    for name, target in requested.items():
        if target != "-":
            try:
                write(Path(target), forms[name]())
            except ExportFailed as error:
                failures.append(error)
    shown = [name for name, target in requested.items() if target == "-"]
    for name in shown:
        sys.stdout.write(forms[name]())
    if not requested or (always and not shown):
        show()
    for failure in failures[:-1]:
        print(f"tare: {failure}", file=sys.stderr)
    if failures:
        raise failures[-1]
