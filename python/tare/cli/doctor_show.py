"""The doctor's findings on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.measure.machine.doctor import Area, Finding, Status

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


def show(findings: Sequence[Finding], able: bool) -> None:
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
