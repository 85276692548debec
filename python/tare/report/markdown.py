"""The result as Markdown: tables that stand by themselves in a ticket or a paper's notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tare.protocol import measures
from tare.report import compare_text, lines
from tare.report.numbers import Scale, scale_for, shown
from tare.report.result import MeasureResult, QueryResult, RunResult


def render(result: RunResult) -> str:
    blocks: list[str] = []
    for query in result.results:
        blocks += _query(query)
    if result.comparison is not None:
        blocks += _comparison(result)
    if result.warnings:
        blocks.append("### Warnings")
        blocks.append(
            "\n".join(
                f"- **{_plain(w.cause)}**{f' ({_plain(w.query)})' if w.query else ''}: {_plain(w.evidence)}. "
                f"Next: {_plain(w.next_step)}."
                for w in result.warnings
            )
        )
    if result.interrupted or result.error:
        blocks.append(f"**The run ended early**: {_plain(result.error or 'interrupted')}.")
    blocks.append("### Conditions")
    blocks.append("\n".join(f"- {_plain(line)}" for line in lines.environment(result.environment)))
    return "\n\n".join(blocks) + "\n"


def _query(query: QueryResult) -> list[str]:
    fence = "````" if "```" in query.sql else "```"
    blocks = [
        f"## {_plain(query.name)}",
        f"{fence}sql\n{query.sql.strip()}\n{fence}",
        f"{lines.runs(query)}, {lines.cache(query.cache)}.",
    ]
    if query.outcome == "failed":
        errors = [qe.error for qe in query.qes if qe.error]
        return [*blocks, f"No run was timed to its end{f': {_plain(errors[-1])}' if errors else ''}."]
    of = query.measures
    scale_of = [m for m in (of.wall_ms, of.cpu_ms) if m.median is not None]
    scale = scale_for("ms", [m.median for m in scale_of if m.median is not None])
    head = ("measure", "median", "95% interval", "rsd")
    elapsed = [(one.label, getattr(of, one.name)) for one in measures.ELAPSED]
    blocks.append(_table(("elapsed (the leader)", *head[1:]), (_cells(n, m, scale) for n, m in elapsed)))
    resources = [(one.label, getattr(query.resources, one.name)) for one in measures.RESOURCES]
    blocks.append(_table(("resources (all processes)", *head[1:]), (_cells(n, m) for n, m in resources)))
    others = [("TTPv2 time", of.ttp2_ms), ("instructions:u", of.instructions)]
    blocks.append(_table(("beside", *head[1:]), (_cells(n, m) for n, m in others)))
    blocks.append(_facts(query))
    return blocks


def _facts(query: QueryResult) -> str:
    facts = [f"- answer: {lines.answer(query.answer)}", f"- plan: {lines.plan(query.plan)}"]
    facts += [f"- {label}: – ({_plain(why)})" for label, why in lines.missing(query)]
    facts += [f"- {label}: {_plain(note)}" for label, note in lines.notes(query)]
    facts += [f"- check failed: {_plain(lines.check(check))}" for check in lines.failed_checks(query)]
    for one in query.disturbers:
        name, role, time, near = lines.disturber(one)
        facts.append(f"- meanwhile: {_plain(name)}, {role}, {time}{f', {near}' if near else ''}")
    return "\n".join(facts)


def _comparison(result: RunResult) -> list[str]:
    found = result.comparison
    assert found is not None
    rows = [
        (
            compare_text.LABELS[name] + (" (verdict)" if name == found.primary else ""),
            compare_text.change(one.ratio) if one.ratio else "–",
            compare_text.p_value(one.mann_whitney_p),
            compare_text.effect(one.cliffs_delta),
        )
        for name, one in found.measures.items()
    ]
    head = ("B against A", "change [95%]", "Mann–Whitney p", "Cliff's δ")
    return [
        "## Comparison",
        f"A: {_plain(found.a)}\\\nB: {_plain(found.b)}",
        f"{_plain(compare_text.verdict(found))}.",
        _table(head, rows),
    ]


def _cells(label: str, measure: MeasureResult, scale: Scale | None = None) -> tuple[str, ...]:
    one = shown(measure, scale if measure.unit == "ms" else None)
    return label, f"{one.value} {one.unit}".strip(), one.interval, one.rsd


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    aligned = ["---", *("---:" for _ in head[1:])]
    return "\n".join(
        f"| {' | '.join(_plain(cell) for cell in row)} |" if row is not aligned else f"|{'|'.join(row)}|"
        for row in (head, aligned, *rows)
    )


def _plain(text: str) -> str:
    """Kept from being read as markup."""
    for sign in "\\|*_`<>":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
