"""The story of a causal model over runs: how many correlations are as predicted, and which are not (TTPv2 Table VI)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.protocol.model.groups import by_group, letters, tally
from tare.protocol.model.result import ModelResult, Observed, Verdict
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Detail,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
)
from tare.report.kit.blocks import Verdict as Answer
from tare.report.numbers import MINUS, thousands
from tare.report.protocol.signs import LEVELS, SIGNS
from tare.report.words import NOTHING
from tare.version import VERSION

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart

TONES = {Verdict.EXACT: Tone.GOOD, Verdict.CLOSE: Tone.CAUTION, Verdict.OFF: Tone.BAD}
MEANINGS = {
    Verdict.EXACT: "exact",
    Verdict.CLOSE: "close (one level off)",
    Verdict.OFF: "off (two levels, or negative)",
    Verdict.NOT_SIGNIFICANT: "not significant (p ≥ 0.05)",
    Verdict.NON_VARYING: "non-varying",
    Verdict.MISSING: "not measured",
}


def story(result: ModelResult, title: str | None = None) -> Story:
    kept = f" that {result.retained_by} retains" if result.retained_by else ""
    return Story(
        title=title or result.title[:1].upper() + result.title[1:],
        under=f"{thousands(result.qes)} QEs{kept} · written by Tare {VERSION}",
        written_by=VERSION,
        blocks=[
            answer(result),
            Paragraph(f"Over {thousands(result.qes)} QEs{kept}. {result.citation}", Tone.QUIET),
            *sections(result),
        ],
    )


def answer(result: ModelResult) -> Answer:
    """GOOD only if every correlation was judged and none is off."""
    observed = result.pooled()
    counts = tally(observed)
    off = [one.relationship.name for one in observed if one.verdict is Verdict.OFF]
    judged = f"of {len(observed)} correlations, {counts[Verdict.EXACT]} are as strong as predicted"
    against = f"{len(off)} contradict{'s' if len(off) == 1 else ''} the prediction ({', '.join(off)})"
    text = (
        f"{result.title[:1].upper()}{result.title[1:]}: {judged} and {counts[Verdict.CLOSE]} are one level off; "
        f"{against if off else 'none contradicts it'}."
    )
    unjudged = counts[Verdict.NOT_SIGNIFICANT] + counts[Verdict.NON_VARYING] + counts[Verdict.MISSING]
    reasons = [f"{unjudged} cannot be judged on these runs"] if unjudged else []
    return Answer("", text, Tone.CAUTION if off or unjudged else Tone.GOOD, reasons)


def sections(result: ModelResult) -> Iterator[Section]:
    """Sections: over all DBMSes, then one for each; of a single DBMS, one alone."""
    alone = len(result.dbmses) == 1
    pooled = result.dbmses[0] if alone else f"Pooled over {', '.join(result.dbmses)}, each scaled by itself"
    yield Section(f"{result.model}-pooled", pooled, [
        *scope(result.pooled()),
        Charts(partial(_charts, result)),
        Detail("Every correlation", [every(result.pooled())]),
    ])  # fmt: skip
    for dbms in () if alone else result.dbmses:
        observed = result.of(dbms)
        parts = [*scope(observed), Detail(f"Every correlation on {dbms}", [every(observed)])]
        yield Section(f"{result.model}-{dbms}", dbms, parts)


def _charts(result: ModelResult) -> list[Chart]:
    from tare.report.protocol.charts import correlations, graph

    return [correlations.chart(result), *graph.charts(result)]


def scope(observed: Sequence[Observed]) -> Iterator[Block]:
    """The table of one DBMS, or of all, and what it does not show."""
    yield _grid(observed)
    counts = tally(observed)
    always = (Verdict.EXACT, Verdict.CLOSE, Verdict.OFF)
    yield Items([
        Item(f"{count} {MEANINGS[verdict]}", SIGNS[verdict], TONES.get(verdict, Tone.QUIET) if count else Tone.QUIET)
        for verdict, count in counts.items()
        if count or verdict in always
    ])  # fmt: skip
    if remarks := list(_remarks(observed)):
        yield Items(remarks)


def _grid(observed: Sequence[Observed]) -> Table:
    columns = letters(observed)
    rows: list[Row] = []
    for group, cells in by_group(observed).items():
        shown = [cells.get(letter) for letter in columns]
        predicted = [
            Cell(LEVELS[one.relationship.predicted], tone=Tone.QUIET) if one else "" for one in shown
        ]
        rows.append([group, *predicted])
        rows.append(["", *(Cell(cell_text(one), tone=_tone(one)) if one else "" for one in shown)])
    return Table(
        "By group of the model: the level that is predicted, and Pearson’s r below it",
        [Column("group", Kind.NAME), *map(Column, columns)],
        rows,
    )


def _tone(one: Observed) -> Tone:
    return TONES.get(one.verdict, Tone.QUIET)


def _remarks(observed: Sequence[Observed]) -> Iterator[Item]:
    for one in observed:
        if one.verdict is Verdict.OFF:
            yield Item(f"{one.relationship.name}: {describe(one)}", SIGNS[Verdict.OFF], Tone.BAD)
    for verdict, what in (
        (Verdict.NON_VARYING, "the same in every QE"),
        (Verdict.MISSING, "never measured"),
    ):
        names = sorted({name for one in observed if one.verdict is verdict for name in one.measures})
        if names:
            yield Item(f"{what}: {', '.join(names)}", SIGNS[verdict], Tone.QUIET)
    reasons: dict[str, list[str]] = {}
    for one in observed:
        if one.reason and not one.measures:
            reasons.setdefault(one.reason, []).append(one.relationship.name)
    for reason, cells in reasons.items():
        yield Item(f"{', '.join(cells)}: {reason}", "*", Tone.QUIET)


def every(observed: Sequence[Observed]) -> Table:
    """A row for each correlation, with the paper's r where it prints one."""
    published = any(one.relationship.published is not None for one in observed)
    return Table(
        "Every predicted correlation",
        [
            *(Column(name, Kind.NAME) for name in ("cell", "cause", "effect", "predicted", "verdict")),
            *map(Column, ("r", *(["paper"] if published else []), "p", "QEs")),
            Column("note", Kind.PROSE),
        ],
        [
            [
                one.relationship.name,
                one.relationship.cause_label,
                one.relationship.effect_label,
                one.relationship.predicted.value,
                Cell(f"{SIGNS[one.verdict]} {one.verdict.value}", tone=_tone(one)),
                _r(one.r),
                *([_r(one.relationship.published)] if published else []),
                NOTHING if one.p is None else p_text(one.p).removeprefix("= "),
                thousands(one.n),
                one.reason or "",
            ]
            for one in observed
        ],
    )


def _r(r: float | None) -> str:
    return NOTHING if r is None else f"{r:.3f}".replace("-", MINUS)


def p_text(p: float) -> str:
    """A p-value, to be read after "p"."""
    if p == 0:
        return "< 1e-308"
    return f"= {p:.2g}" if p < 0.001 else f"= {p:.3f}"


def cell_text(one: Observed) -> str:
    """A sign and r, or the sign alone."""
    sign = SIGNS[one.verdict]
    return sign if one.r is None else f"{sign} {_r(one.r)}"


def describe(one: Observed) -> str:
    """The relationship in words, and what was found."""
    of = one.relationship
    text = f"{of.cause_label} → {of.effect_label}, {of.predicted} predicted"
    if one.r is None or one.p is None:
        return f"{text}: {one.reason}"
    return f"{text}: r = {_r(one.r)} (p {p_text(one.p)}, {thousands(one.n)} QEs)"
