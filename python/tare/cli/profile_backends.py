"""`tare profile backends`: what was tried, in words or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.profile.backends import Attempt, tried


def told(command: Sequence[str], *, as_json: bool) -> int:
    """The exit code."""
    attempts = tried(command)
    if as_json:
        typer.echo(json.dumps({"backends": [asdict(one) for one in attempts]}, indent=2))
    else:
        Console(highlight=False).print(_table(attempts))
    return 0 if any(one.works for one in attempts) else 1


def _table(attempts: Sequence[Attempt]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(width=1)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in attempts:
        said = Text(one.says)
        if one.next_step:
            said.append(f"\nnext: {one.next_step}", style="dim")
        table.add_row(Text("✓" if one.works else "✗", style="green" if one.works else "red"), one.name, said)
    return table
