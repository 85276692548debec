"""The story of two runs: what stands against comparing them first, then the ratios of VProfiler's Table 3."""

from __future__ import annotations

from collections.abc import Iterator

from tare.lab.ids import oltp_id
from tare.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Detail,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale, thousands
from tare.report.oltp import words
from tare.report.oltp.comparison import Comparison, Ratio, Side
from tare.report.oltp.story import cell
from tare.report.words import NOTHING, dbms_name

FIGURES = {"mean": "mean", "variance": "variance", "sd": "sd", "p99": "99th percentile"}


def story(found: Comparison) -> Story:
    return Story(
        title=found.title,
        under=f"Written {found.written_at[:10]} by Tare {found.written_by} from {found.lab}.",
        written_by=found.written_by,
        blocks=list(_blocks(found)),
    )


def _blocks(found: Comparison) -> Iterator[Block]:
    if found.objections:
        yield Verdict("", "These runs cannot be compared as they stand:", Tone.BAD, found.objections)
        yield Paragraph(verdict(found))
    else:
        yield Verdict("", verdict(found), Tone.GOOD if _is_established(found) else Tone.CAUTION)
    yield Facts("", [("A", _side(found.a)), ("B", _side(found.b))])
    yield Section("ratios", "A over B", [
        _ratios(found),
        Items([Item(text, sign) for sign, text in _lacking(found)]),
        Detail("The figures", [_figures(found)]),
    ])  # fmt: skip
    yield Section("method", "How it was computed", [Paragraph(found.method, Tone.QUIET)])


def _of_all(found: Comparison) -> dict[str, Ratio]:
    return {one.figure: one for one in found.ratios if one.type == "all" and one.times == "response"}


def _is_established(found: Comparison) -> bool:
    return any(one.ratio is not None for one in _of_all(found).values())


def verdict(found: Comparison) -> str:
    """Return the verdict on response times, all types together."""
    ratios = _of_all(found)
    lower = []
    for name, label in FIGURES.items():
        one = ratios.get(name)
        if one is not None and one.ratio is not None and one.established:
            less = "B" if one.ratio.value > 1 else "A"
            by = one.ratio.value if less == "B" else 1 / one.ratio.value
            lower.append(f"{label} {by:.3g} times lower in {less}")
    lead = "Response time, all types: "
    if lower:
        return lead + ", ".join(lower) + " (95% intervals that leave out 1)."
    if _is_established(found):
        return lead + "no difference is established."
    return lead + "nothing can be said; no interval can be given."


def _ratios(found: Comparison) -> Table:
    ratios: dict[tuple[str, str, str], Ratio] = {
        (one.type, one.times, one.figure): one for one in found.ratios
    }
    rows: list[Row] = [
        [
            "all types" if kind == "all" else kind,
            times,
            *(_ratio(ratios[kind, times, figure]) for figure in FIGURES),
        ]
        for kind, times in dict.fromkeys((one.type, one.times) for one in found.ratios)
    ]
    return Table(
        "Ratios of A over B with 95% intervals; above 1, B is the smaller",
        [Column("A / B", Kind.NAME), Column("time", Kind.NAME), *map(Column, FIGURES.values())],
        rows,
        grouped=True,
    )


def _ratio(one: Ratio) -> Cell:
    """Nothing without its interval."""
    if one.ratio is None:
        return Cell(NOTHING)
    shown = Figure(one.ratio.value, one.ratio.low, one.ratio.high, digits=4).cell(Scale("", 1.0))
    return Cell(shown.value, interval=shown.interval, note="*" if one.established else "")


def _figures(found: Comparison) -> Table:
    rows: list[Row] = [
        [
            "all types" if one.type == "all" else one.type,
            one.times,
            FIGURES[one.figure] + (" (ms²)" if one.figure == "variance" else ""),
            cell(one.a),
            cell(one.b),
            _ratio(one),
            f"{thousands(one.n[0])}, {thousands(one.n[1])}",
        ]
        for one in found.ratios
    ]
    return Table(
        "What the ratios are made of, ms where nothing else is said",
        [
            *(Column(name, Kind.NAME) for name in ("type", "time", "figure")),
            *map(Column, ("A, ms", "B, ms", "A / B", "n")),
        ],
        rows,
    )


def _lacking(found: Comparison) -> Iterator[tuple[str, str]]:
    yield "*", "the interval leaves out 1."
    sides = (("A", found.a), ("B", found.b))
    reasons = dict.fromkeys(
        f"run {name}: {one.why}" for name, side in sides for one in side.precision.values() if one.why
    )
    if reasons:
        yield NOTHING, f"no interval can be given ({'; '.join(reasons)})."
    elif any(one.ratio is None for one in found.ratios):
        yield NOTHING, "too few transactions of the type for an interval."


def _side(side: Side) -> str:
    due = f"{words.rate(side.intended_rate)} due, " if side.intended_rate is not None else "closed loop, "
    valid = "" if side.valid else ", not judged" if side.not_judged else ", NOT VALID"
    return (
        f"run {oltp_id(side.run)} ({side.uuid[:8]}): {side.workload}, scale {side.scale:g}, {dbms_name(side.dbms)} "
        f"{side.version}, {due}{words.rate(side.rate)} sustained{valid}"
    )
