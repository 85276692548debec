"""The findings for a terminal: sentences, then a line for each type."""

from __future__ import annotations

import textwrap

from tare.report.oltp import view
from tare.report.oltp.document import OltpReport
from tare.report.oltp.headline import DIFFERENCE
from tare.report.safe import printable, short

_WIDTH = 100
_LAG_OF_ALL = 3  # rows above the second type
_SHOWN = ("mean", "sd", "p50", "p95", "p99", "longest")


def render(report: OltpReport) -> str:
    blocks = [_filled(one) for one in report.headline]
    if report.held.intended_rate is not None and report.all.response.n:
        blocks.insert(2, _filled(DIFFERENCE))
    if report.all.service.n:
        blocks += ["\n".join(_table(report)), _filled(view.precision(report))]
    blocks += [_failing(report)] if view.failing(report) else []
    blocks += [_filled(f"Deviation: {one}.") for one in report.deviations]
    return "\n\n".join(blocks) + "\n"


def _table(report: OltpReport) -> list[str]:
    """Values; the intervals are in the other forms, but for the mean's and the 99th percentile's."""
    rows = [("ms", "", *_SHOWN)]
    for type_ in view.times_rows(report):
        for at, row in enumerate(type_["rows"]):
            if row["kind"] == "lag" and len(rows) > _LAG_OF_ALL:
                continue
            of = dict(zip(view.TIMES_HEADINGS, row["cells"], strict=True))
            of |= zip(view.SPREAD_HEADINGS, row["spread"], strict=True)
            shown = [of[name].text if name in ("mean", "p99") else of[name].value for name in _SHOWN]
            rows.append((short(type_["name"], 24) if at == 0 else "", row["times"], *shown))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _failing(report: OltpReport) -> str:
    lines = []
    for one in view.failing(report):
        lines.append(_filled(f"{one.name}: {one.says}. It does not hold for:"))
        lines += [
            f"  {', '.join(f'{short(name)} {short(cell)}' for name, cell in zip(one.columns, row, strict=False))}"
            for row in one.rows[:5]
        ]
    return "\n".join(lines)


def _filled(text: str) -> str:
    return textwrap.fill(printable(text), _WIDTH)
