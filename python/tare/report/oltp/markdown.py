"""The report as Markdown: findings, conditions and tables, for a repository or a paper's notes."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.numbers import thousands
from tare.report.oltp import view
from tare.report.oltp.document import OltpReport
from tare.report.oltp.headline import CLOSED, DIFFERENCE
from tare.report.page.filters import fact
from tare.report.page.markdown import fenced, plain, table
from tare.report.safe import short


def render(report: OltpReport) -> str:
    blocks = [
        f"# {plain(report.title)}",
        f"Run {report.run} ({report.uuid[:8]}), begun {report.started_at[:16].replace('T', ' ')} UTC; written "
        f"{report.written_at[:10]} by Tare {report.written_by} from {plain(report.lab)}.",
        "## Findings",
        *(f"**{plain(one)}**" if at == 0 else plain(one) for at, one in enumerate(report.headline)),
        DIFFERENCE if report.held.intended_rate is not None else CLOSED,
        "## Asked and held",
        table(("asked", ""), ([name, value] for name, value in view.asked(report))),
        table(("held", ""), ([name, value] for name, value in view.held(report))),
        *_types(report),
        *_server(report),
        *_checks(report),
        *_conditions(report),
        "## How to do it again",
        fenced("\n".join(report.commands), ""),
    ]
    return "\n\n".join(blocks) + "\n"


def _types(report: OltpReport) -> Iterator[str]:
    yield "## By type of transaction"
    types = list(view.times_rows(report))
    if types:
        yield f"Times in ms. {plain(view.precision(report))}"
    for key, headings in (("cells", view.TIMES_HEADINGS), ("spread", view.SPREAD_HEADINGS)):
        rows = [
            [type_["name"], row["times"], *(cell.text for cell in row[key])]
            for type_ in types
            for row in type_["rows"]
        ]
        if rows:
            yield table(("type", "time", *headings), rows)
    ends = view.ends(report)
    yield table(("type", *ends["headings"]), ([row["name"], *row["cells"]] for row in ends["rows"]))


def _server(report: OltpReport) -> Iterator[str]:
    if not (report.measures or report.unmeasured):
        return
    yield "## The server"
    rows = []
    for one in report.measures:
        values = [value for second, value in one.points if second >= 0] or [value for _, value in one.points]
        mean = sum(values) / len(values)
        rows.append([one.name, one.unit, *(f"{value:,.4g}" for value in (min(values), mean, max(values)))])
    if rows:
        yield table(("measure, by seconds", "unit", "least", "mean", "highest"), rows)
    for name, why in report.unmeasured.items():
        yield f"Not measured: {plain(name)}: {plain(why)}."


def _checks(report: OltpReport) -> Iterator[str]:
    if not report.checks:
        return
    yield "## Conditions on the data"
    yield table(
        ("condition", "what must hold", "failing before", "failing after"),
        (
            [one.name, one.says, *("–" if n is None else thousands(n) for n in (one.before, one.after))]
            for one in report.checks
        ),
    )
    for one in view.failing(report):
        yield f"Rows where {plain(one.name)} does not hold:"
        yield table(
            [short(name) for name in one.columns], ([short(cell) for cell in row] for row in one.rows)
        )


def _conditions(report: OltpReport) -> Iterator[str]:
    yield "## Conditions"
    rows = [["server", f"{report.server.dbms} {report.server.version}"], ["database", report.server.url]]
    rows += [[name.replace("_", " "), fact(value, name)] for name, value in report.machine.items()]
    rows += [[f"setting {name}", value] for name, value in report.server.settings.items()]
    yield table(("fact", "value"), rows)
    listed = [f"- trouble at {one.at_s:.1f} s: {plain(one.text)}" for one in report.troubles]
    listed += [f"- deviation: {plain(one)}" for one in report.deviations]
    yield "\n".join(listed) if listed else "No deviation was recorded."
