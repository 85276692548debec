"""`tare doctor`: what this machine and this user allow, what disturbs, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.measure.machine.doctor import Area, Finding, Status, examine
from tare.measure.machine.doctor.examine import can_measure
from tare.measure.machine.leftovers import restore
from tare.measure.machine.putback.steps import FAILED

_MARKS = {
    Status.GOOD: ("✓", "green"),
    Status.ADVICE: ("!", "yellow"),
    Status.PROBLEM: ("✗", "red"),
    Status.NOT_APPLICABLE: ("–", "dim"),
    Status.UNKNOWN: ("?", "dim"),
}
_TITLES = {
    Area.ALLOWED: "What this machine and this user allow",
    Area.DISTURBANCE: "What disturbs",
}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    put_back: Annotated[
        bool, typer.Option("--restore", help="Put back the settings that a crashed run left.")
    ] = False,
    sample: Annotated[float, typer.Option(help="How many seconds to watch who runs.", min=0.1)] = 1.0,
) -> None:
    """Say what can be measured here, what disturbs, and what to do about each.

    The exit code is 1 only if nothing can be measured or a setting could not be put back.
    """
    if put_back:
        raise typer.Exit(_restore(as_json))
    findings = examine(sample)
    able = can_measure(findings)
    if as_json:
        print(
            json.dumps(
                {"can_measure": able, "findings": [finding.as_json() for finding in findings]}, indent=2
            )
        )
    else:
        _show(findings, able)
    raise typer.Exit(0 if able else 1)


def _restore(as_json: bool) -> int:
    undone = restore()
    if as_json:
        print(json.dumps({"restored": [vars(one) for one in undone]}, indent=2))
    else:
        for one in undone:
            print(f"{one.how}: {one.what} {one.detail}".rstrip())
        if not undone:
            print("nothing was left by a crashed run")
    return 1 if any(one.how == FAILED for one in undone) else 0


def _show(findings: Sequence[Finding], able: bool) -> None:
    console = Console(highlight=False)
    for area, title in _TITLES.items():
        table = Table(box=None, show_header=False, padding=(0, 1), title=title, title_justify="left")
        table.add_column(width=1)
        table.add_column(no_wrap=True, max_width=24)
        table.add_column(overflow="fold")
        for finding in findings:
            if finding.area is area:
                mark, style = _MARKS[finding.status]
                seen = Text(finding.observed)
                if finding.status in (Status.ADVICE, Status.PROBLEM):
                    seen.append(f"\n{finding.why}", style="dim")
                table.add_row(Text(mark, style=style), Text(finding.name), seen)
        console.print(table)
        console.print()
    steps = [f for f in findings if f.next_step and f.status in (Status.ADVICE, Status.PROBLEM)]
    steps.sort(key=lambda finding: finding.status is not Status.PROBLEM)
    if steps:
        table = Table(box=None, show_header=False, padding=(0, 1), title="What to do", title_justify="left")
        table.add_column(justify="right")
        table.add_column(overflow="fold")
        for number, finding in enumerate(steps, 1):
            line = Text(f"{finding.name}: {finding.next_step}")
            if finding.undoable:
                line.append("  (tare isolate does it and puts it back)", style="dim")
            table.add_row(f"{number}.", line)
        console.print(table)
    if not able:
        console.print("Nothing can be measured here: no tier of the probe works.", style="red")
