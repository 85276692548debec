"""`tare profile backends`: what was tried, in words or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import typer

from tare.profile.backends import Attempt, tried
from tare.report.kit.blocks import Cell, Column, Kind, Row, Table, Tone
from tare.report.kit.deliver import show_blocks


def told(command: Sequence[str], *, as_json: bool) -> int:
    """The exit code."""
    attempts = tried(command)
    if as_json:
        typer.echo(json.dumps({"backends": [asdict(one) for one in attempts]}, indent=2))
    else:
        show_blocks([_table(attempts)])
    return 0 if any(one.works for one in attempts) else 1


def _table(attempts: Sequence[Attempt]) -> Table:
    columns = (Column("", Kind.NAME), Column("", Kind.NAME), Column("", Kind.PROSE))
    return Table("", columns, [row for attempt in attempts for row in _rows(attempt)])


def _rows(attempt: Attempt) -> Iterator[Row]:
    mark = Cell("✓", tone=Tone.GOOD) if attempt.works else Cell("✗", tone=Tone.BAD)
    yield [mark, attempt.name, attempt.says]
    if attempt.next_step:
        yield ["", "", Cell(f"next: {attempt.next_step}", tone=Tone.QUIET)]
