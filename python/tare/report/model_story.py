"""The story of a causal model checked against data: TTPv2 Table VI, and what it does not show.

Readable without colour: each verdict has a sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol.model.result import ModelResult, Observed, by_group, letters, tally
from tare.protocol.model.result import Verdict as Correlation
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
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.model_signs import LEVELS, SIGNS
from tare.report.numbers import MINUS, thousands
from tare.report.origin import Origin
from tare.report.words import joined

TONES = {Correlation.EXACT: Tone.GOOD, Correlation.CLOSE: Tone.CAUTION, Correlation.OFF: Tone.BAD}
"""Verdicts that have a correlation; the others are QUIET."""
MEANINGS = {
    Correlation.EXACT: "exact",
    Correlation.CLOSE: "close (one level off)",
    Correlation.OFF: "off (two levels, or negative)",
    Correlation.NOT_SIGNIFICANT: "not significant (p ≥ 0.05)",
    Correlation.NON_VARYING: "non-varying",
    Correlation.MISSING: "not measured",
}


def story(result: ModelResult, origin: Origin) -> Story:
    """Return the pooled table, then each DBMS's."""
    is_single = len(result.dbmses) == 1
    pooled = (
        result.dbmses[0] if is_single else f"pooled over {', '.join(result.dbmses)}, each scaled by itself"
    )
    sections = [Section("pooled", pooled, list(_scope(result.pooled())))]
    for number, dbms in enumerate(() if is_single else result.dbmses, start=1):
        sections.append(Section(f"dbms-{number}", dbms, list(_scope(result.of(dbms)))))
    return Story(
        title=result.title,
        under=origin.line,
        written_by=origin.written_by,
        blocks=[
            _answer(result),
            Paragraph(result.citation, Tone.QUIET),
            Paragraph("each cell: the level that is predicted, and r as it was found", Tone.QUIET),
            *sections,
        ],
    )


def _answer(result: ModelResult) -> Verdict:
    """GOOD only if every correlation is exact, pooled and in each DBMS."""
    counts = [f"{count} {MEANINGS[verdict].partition(' (')[0]}" for verdict, count in _tally(result.pooled())]
    which = f" that {result.retained_by} retains" if result.retained_by else ""
    is_exact = all(one.verdict is Correlation.EXACT for one in result.observed)
    return Verdict(
        result.title,
        f"predicted correlations over {thousands(result.qes)} QEs{which}: {joined(counts)}.",
        Tone.GOOD if is_exact and result.observed else Tone.CAUTION,
    )


def _tally(observed: Sequence[Observed]) -> list[tuple[Correlation, int]]:
    """Number of correlations by verdict, without verdicts other than the main three that none has."""
    return [(verdict, count) for verdict, count in tally(observed).items() if count or verdict in TONES]


def _scope(observed: Sequence[Observed]) -> Iterator[Block]:
    yield _table(observed)
    yield Items(
        [
            Item(f"{count} {MEANINGS[verdict]}", SIGNS[verdict], _tone(verdict))
            for verdict, count in _tally(observed)
        ]
    )
    remarks = list(_remarks(observed))
    if remarks:
        yield Items(remarks)


def _tone(verdict: Correlation) -> Tone:
    return TONES.get(verdict, Tone.QUIET)


def _table(observed: Sequence[Observed]) -> Table:
    """Two rows for each group: predicted levels, and below them correlations with their signs."""
    columns = letters(observed)
    rows: list[Row] = []
    for group, cells in by_group(observed).items():
        shown = [cells.get(letter) for letter in columns]
        levels: Row = [
            Cell(LEVELS[one.relationship.predicted], tone=Tone.QUIET) if one else "" for one in shown
        ]
        correlations: Row = [Cell(cell_text(one), tone=_tone(one.verdict)) if one else "" for one in shown]
        rows += [[group, *levels], [group, *correlations]]
    return Table("", [Column("", Kind.NAME), *map(Column, columns)], rows, grouped=True)


def cell_text(one: Observed) -> str:
    """The correlation with the sign of its verdict, or the sign alone. The sign comes last, so that a column of a
    terminal sets both flush right."""
    sign = SIGNS[one.verdict]
    return sign if one.r is None else f"{_signed(one.r)} {sign}"


def _signed(r: float) -> str:
    return f"{r:.3f}".replace("-", MINUS)


def _remarks(observed: Sequence[Observed]) -> Iterator[Item]:
    """Each that is off, by name; then what silenced others, and what else there is to know, each once."""
    for one in observed:
        if one.verdict is Correlation.OFF:
            text = f"{one.relationship.name}: {describe(one)}"
            yield Item(text, SIGNS[Correlation.OFF], Tone.BAD)
    for verdict, reason in (
        (Correlation.NON_VARYING, "the same in every QE"),
        (Correlation.MISSING, "never measured"),
    ):
        names = sorted({name for one in observed if one.verdict is verdict for name in one.measures})
        if names:
            yield Item(f"{reason}: {', '.join(names)}", SIGNS[verdict], Tone.QUIET)
    reasons: dict[str, list[str]] = {}
    for one in observed:
        if one.reason and not one.measures:
            reasons.setdefault(one.reason, []).append(one.relationship.name)
    for reason, cells in reasons.items():
        yield Item(f"{', '.join(cells)}: {reason}", "*", Tone.QUIET)


def describe(one: Observed) -> str:
    """The relationship in words, and what was found."""
    relationship = one.relationship
    text = f"{relationship.cause_label} → {relationship.effect_label}, {relationship.predicted} predicted"
    if one.r is None or one.p is None:
        return f"{text}: {one.reason}"
    return f"{text}: r = {_signed(one.r)} (p {p_text(one.p)}, {thousands(one.n)} QEs)"


def p_text(p: float) -> str:
    """A p-value, to be read after "p"."""
    if p == 0:
        return "< 1e-308"
    return f"= {p:.2g}" if p < 0.001 else f"= {p:.3f}"
