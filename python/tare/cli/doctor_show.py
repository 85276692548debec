"""The doctor's findings on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.measure.machine.doctor import Area, Finding, Status
from tare.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
)
from tare.report.kit.deliver import show_blocks

_MARKS = {
    Status.GOOD: Cell("✓", tone=Tone.GOOD),
    Status.ADVICE: Cell("!", tone=Tone.CAUTION),
    Status.PROBLEM: Cell("✗", tone=Tone.BAD),
    Status.NOT_APPLICABLE: Cell("–", tone=Tone.QUIET),
    Status.UNKNOWN: Cell("?", tone=Tone.QUIET),
}
_TITLES = {
    Area.ALLOWED: "What this machine and this user allow",
    Area.DISTURBANCE: "What disturbs",
}
_COLUMNS = (Column("", Kind.NAME), Column("", Kind.NAME), Column("", Kind.PROSE))


def show(findings: Sequence[Finding], able: bool) -> None:
    show_blocks(list(_blocks(findings, able)))


def _blocks(findings: Sequence[Finding], able: bool) -> Iterator[Block]:
    for area, title in _TITLES.items():
        rows = [row for finding in findings if finding.area is area for row in _rows(finding)]
        if rows:
            yield Section(area.value, title, [Table("", _COLUMNS, rows)])
    steps = [finding for finding in findings if finding.next_step and _needs_care(finding)]
    steps.sort(key=lambda finding: finding.status is not Status.PROBLEM)
    if steps:
        items = [Item(_step(finding), f"{number}.") for number, finding in enumerate(steps, 1)]
        yield Section("steps", "What to do", [Items(items)])
    if not able:
        yield Paragraph("Nothing can be measured here: no tier of the probe works.", Tone.BAD)


def _rows(finding: Finding) -> Iterator[Row]:
    """The finding, and below it why it matters if something can be done about it."""
    yield [_MARKS[finding.status], finding.name, finding.observed]
    if _needs_care(finding):
        yield ["", "", Cell(finding.why, tone=Tone.QUIET)]


def _needs_care(finding: Finding) -> bool:
    return finding.status in (Status.ADVICE, Status.PROBLEM)


def _step(finding: Finding) -> str:
    undone = "  (tare isolate does it and puts it back)" if finding.undoable else ""
    return f"{finding.name}: {finding.next_step}{undone}"
