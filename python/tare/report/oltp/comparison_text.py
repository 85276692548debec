"""A comparison of two runs, for a terminal and as Markdown: what stands against it first, then Table 3's ratios."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tare.report.json import laid_out
from tare.report.numbers import thousands
from tare.report.oltp import words
from tare.report.oltp.comparison import Comparison, Ratio, Side
from tare.report.page.markdown import plain, table
from tare.report.safe import printable, short
from tare.report.words import NOTHING

_WIDTH = 100
FIGURES = {"mean": "mean", "variance": "variance", "sd": "sd", "p99": "99th percentile"}
_AGAINST = "These runs cannot be compared as they stand"


def render(found: Comparison) -> str:
    blocks = [f"A  {_side(found.a)}\nB  {_side(found.b)}"]
    if found.objections:
        blocks.append("\n".join([f"{_AGAINST}:", *(_filled(one, "  - ") for one in found.objections)]))
    blocks.append(_filled(verdict(found)))
    blocks.append("\n".join(_lined(found)))
    blocks += [_filled(one) for one in _lacking(found)]
    blocks.append(_filled(found.method))
    return "\n\n".join(blocks) + "\n"


def render_markdown(found: Comparison) -> str:
    blocks = [
        f"# {plain(found.title)}",
        f"Written {found.written_at[:10]} by Tare {found.written_by} from {plain(found.lab)}.",
        f"- A: {plain(_side(found.a))}\n- B: {plain(_side(found.b))}",
    ]
    if found.objections:
        blocks += [f"**{_AGAINST}:**", "\n".join(f"- {plain(one)}" for one in found.objections)]
    blocks.append(plain(verdict(found)))
    head, *rows = _rows(found)
    blocks.append(table(head, rows))
    blocks += [plain(one) for one in _lacking(found)]
    blocks.append("## The figures")
    blocks.append(
        table(
            ("type", "time", "figure", "A, ms", "B, ms", "A / B", "n"),
            (
                [one.type, one.times, FIGURES[one.figure] + (" (ms²)" if one.figure == "variance" else ""),
                 " ".join(words.cells(one.a)), " ".join(words.cells(one.b)), _cell(one),
                 f"{thousands(one.n[0])}, {thousands(one.n[1])}"]
                for one in found.ratios
            ),
        )
    )  # fmt: skip
    blocks += ["## How it was computed", plain(found.method)]
    return "\n\n".join(blocks) + "\n"


def render_json(found: Comparison) -> str:
    return laid_out(found.model_dump(mode="json", by_alias=True)) + "\n"


def verdict(found: Comparison) -> str:
    """What is established of response times, all types together."""
    of: dict[str, Ratio] = {
        one.figure: one for one in found.ratios if one.type == "all" and one.times == "response"
    }
    said = []
    for name, label in FIGURES.items():
        one = of.get(name)
        if one is not None and one.ratio is not None and one.established:
            less = "B" if one.ratio.value > 1 else "A"
            by = one.ratio.value if less == "B" else 1 / one.ratio.value
            said.append(f"{label} {by:.3g} times lower in {less}")
    lead = "Response time, all types: "
    if said:
        return lead + ", ".join(said) + " (95% intervals that leave out 1)."
    if any(one.ratio is not None for one in of.values()):
        return lead + "no difference is established."
    return lead + "nothing can be said; no interval can be given."


def _rows(found: Comparison) -> Iterator[list[str]]:
    yield ["A / B", "time", *FIGURES.values()]
    places = dict.fromkeys((one.type, one.times) for one in found.ratios)
    of: dict[tuple[str, str, str], Ratio] = {(one.type, one.times, one.figure): one for one in found.ratios}
    before = None
    for type_, times in places:
        name = "all types" if type_ == "all" else short(type_, 24)
        yield [
            "" if type_ == before else name,
            times,
            *(_cell(of[type_, times, figure]) for figure in FIGURES),
        ]
        before = type_


def _cell(one: Ratio) -> str:
    """Nothing without its interval."""
    if one.ratio is None:
        return NOTHING
    value, interval = words.cells(one.ratio)
    return f"{value} {interval}{' *' if one.established else ''}"


def _lined(found: Comparison) -> list[str]:
    rows = list(_rows(found))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _lacking(found: Comparison) -> Iterator[str]:
    yield "* the interval leaves out 1."
    sides = (("A", found.a), ("B", found.b))
    reasons = dict.fromkeys(
        f"run {name}: {one.why}" for name, side in sides for one in side.precision.values() if one.why
    )
    if reasons:
        yield f"{NOTHING} no interval can be given ({'; '.join(reasons)})."
    elif any(one.ratio is None for one in found.ratios):
        yield f"{NOTHING} too few transactions of the type for an interval."


def _side(of: Side) -> str:
    asked = f"{words.rate(of.intended_rate)} due, " if of.intended_rate is not None else "closed loop, "
    valid = "" if of.valid else ", NOT VALID"
    return (
        f"run {of.run} ({of.uuid[:8]}): {of.workload}, scale {of.scale:g}, {of.dbms} {of.version}, {asked}"
        f"{words.rate(of.rate)} held{valid}"
    )


def _filled(text: str, lead: str = "") -> str:
    return textwrap.fill(printable(text), _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
