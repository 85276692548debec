"""The report as Markdown: the two paragraphs and the tables, for a repository or a paper's notes."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report.experiment import view
from tare.report.experiment.document import Protocol, Report
from tare.report.experiment.paper import NOTE
from tare.report.kit.markdown import plain, table
from tare.report.numbers import thousands
from tare.report.page import filters
from tare.report.page.markdown import conditions, missing, reproduce
from tare.report.safe import short

MOST_TIMES = 2000  # rows


def render(report: Report) -> str:
    primary = report.protocol(report.primary)
    assert primary is not None
    others = [one for one in report.protocols if one is not primary]
    blocks = [
        f"# {plain(report.title)}",
        f"Written {filters.day(report.written_at)} by Tare {report.written_by} from {plain(report.lab)}.",
        "## How this was measured",
        *map(plain, primary.statement.paragraphs),
        plain(f"{filters.capital(primary.label)} comes first because {report.primary_why}."),
        "## The protocols side by side",
        _side_by_side(report),
        plain(NOTE),
    ]
    for one in [primary, *others]:
        blocks += _protocol(one)
    blocks += _times(report, others)
    blocks += _models(report)
    blocks += missing(report)
    blocks += conditions(report, primary.deviations)
    blocks += reproduce(report.commands, report.reproduction)
    return "\n\n".join(blocks) + "\n"


def _side_by_side(report: Report) -> str:
    head = ["", *(f"{one.label}, here" for one in report.protocols), "TTPv1, paper", "TTPv2, paper"]
    return table(head, ([row["name"], *row["here"], *row["paper"]] for row in view.side_by_side(report)))


def _protocol(one: Protocol) -> list[str]:
    blocks = [f"## {plain(filters.capital(one.title))}"]
    if one.stopped:
        blocks.append(plain(f"Stopped: {one.stopped}."))
    if one.remaining:
        rows = (
            [step["step"], thousands(step["qes"]), step["dropped_qes"], thousands(step["qatcs"]),
             step["dropped_qatcs"]]
            for step in view.steps(one.remaining)
        )  # fmt: skip
        blocks.append(table(("step", "QEs", "dropped", "Q@Cs", "dropped"), rows))
    for level, name in (("experiment", "experiment-wide"), ("qe", "QE"), ("qatc", "Q@C")):
        checks = [check for check in one.checks if check.level == level]
        unit = "count" if level == "experiment" else "share"
        rows = (
            [f"{check.number} {check.name}", thousands(check.violations), thousands(check.judged),
             filters.of_unit(check.share, "share"), filters.of_unit(check.paper, unit), check.unjudged or ""]
            for check in checks
        )  # fmt: skip
        head = (f"{name} check", "violations", "judged", "share", "paper", "not judged, because")
        if checks:
            blocks.append(table(head, rows))
    if one.post:
        rows = (
            [f"{post.number} {post.name}", filters.of_unit(post.value, post.unit),
             filters.of_unit(post.paper, post.unit), post.reason or ", ".join(post.detail)]
            for post in one.post
        )  # fmt: skip
        blocks.append(table(("post check", "here", "paper", "what to know"), rows))
    return blocks


def _times(report: Report, others: Sequence[Protocol]) -> list[str]:
    head = ("query", "DBMS", "cardinality", "time, ms", "95% interval", "sd", "QEs", "measured")
    shown = [view.time_row(report, place, others) for place in range(min(MOST_TIMES, len(report.times)))]
    rows = (
        [short(row["query"]), row["dbms"], thousands(row["cardinality"]), row["time"], row["interval"],
         row["sd"], row["qes"], row["measured"], *row["others"], row["remark"]]
        for row in shown
    )  # fmt: skip
    blocks = ["## Times", table((*head, *(one.label for one in others), "remark"), rows)]
    if len(report.times) > len(shown):
        blocks.append(f"The first {len(shown)} of {len(report.times)} Q@Cs; all are in the JSON report.")
    return blocks


def _models(report: Report) -> list[str]:
    blocks = []
    for model in map(view.model_view, report.models):
        blocks.append(f"## {plain(filters.capital(model['title']))}")
        head = ("QEs of", *model["verdicts"])
        blocks.append(table(head, ([row["name"], *map(str, row["counts"])] for row in model["counts"])))
        rows = (
            [
                group["name"],
                *(f"{c['predicted']}: {c['r']} {c['verdict']}" if c else "" for c in group["cells"]),
            ]
            for group in model["groups"]
        )
        blocks.append(table(("group", *model["letters"]), rows))
    return blocks
