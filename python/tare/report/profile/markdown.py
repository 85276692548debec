"""The report as Markdown: findings, tree, tables and conditions, for a repository or a paper's notes."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.kit.markdown import fenced, plain, table
from tare.report.page.filters import fact
from tare.report.profile import text, view, words
from tare.report.profile.document import ProfileReport
from tare.report.safe import printable, short

_WIDTH = 110  # characters, of the tree
_MOST_TYPES = 30


def render(report: ProfileReport) -> str:
    blocks = [
        f"# {plain(report.title)}",
        f"Profile {plain(report.run)}, begun {report.started_at[:16].replace('T', ' ')} UTC; written "
        f"{report.written_at[:10]} by Tare {report.written_by}.",
        "## Findings",
        *(f"**{plain(one)}**" if at == 0 else plain(one) for at, one in enumerate(report.headline)),
        *(f"Warning: {plain(one)}" for one in report.warnings),
        f"Next: {plain(report.next.says)}",
        *([fenced(report.next.command, "")] if report.next.command else []),
        *_tree(report),
        *_factors(report),
        *_types(report),
        *_tail(report),
        *_overhead(report),
        *_rounds(report),
        *_conditions(report),
        "## How to do it again",
        fenced("\n".join(report.commands), ""),
    ]
    return "\n\n".join(blocks) + "\n"


def _tree(report: ProfileReport) -> Iterator[str]:
    yield "## The variance tree"
    drawn = text.tree(report, _WIDTH)
    if drawn:
        yield fenced(drawn, "")
    yield f"{view.SHARES} {view.sums(report)}"


def _factors(report: ProfileReport) -> Iterator[str]:
    if report.factors:
        yield "## Factors"
        yield table(view.FACTOR_HEADINGS, view.factor_rows(report, 2 * view.TOP, 80))
        yield view.SCORE


def _types(report: ProfileReport) -> Iterator[str]:
    if report.types:
        yield "## Types of transactions"
        yield table(view.TYPE_HEADINGS, view.type_rows(report, _MOST_TYPES, 60))


def _tail(report: ProfileReport) -> Iterator[str]:
    if report.tail:
        yield "## The tail"
        yield table(view.TAIL_HEADINGS, view.tail_rows(report, view.TOP, 60))
        yield view.TAIL


def _overhead(report: ProfileReport) -> Iterator[str]:
    yield "## What the profiling itself took"
    rows = view.overhead_rows(report)
    yield table(("overhead", ""), rows) if rows else "It was not measured."


def _rounds(report: ProfileReport) -> Iterator[str]:
    if report.rounds:
        yield "## Rounds of refinement"
        yield plain(view.rounds(report))
        yield table(view.ROUND_HEADINGS, view.round_rows(report))


def _conditions(report: ProfileReport) -> Iterator[str]:
    yield "## Conditions"
    rows = [list(one) for one in view.conditions(report)]
    rows += [[name.replace("_", " "), fact(value, name)] for name, value in report.machine.items()]
    yield table(("fact", "value"), rows)
    if report.refused:
        yield (
            f"{words.thousands(len(report.refused))} functions had no probe: "
            + ", ".join(plain(short(printable(name))) for name in list(report.refused)[:20])
            + ("; the rest is in the JSON report." if len(report.refused) > 20 else ".")
        )
    if report.left_out:
        yield f"Called too often for the budget: {', '.join(plain(short(one)) for one in report.left_out[:20])}."
    if report.notes:
        yield "\n".join(f"- {plain(one)}" for one in report.notes)
