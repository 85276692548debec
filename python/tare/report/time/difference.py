"""Parts of a difference between A and B: of the wall time; then bytes, the plan and the answer."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.kit.blocks import Block, Cell, Column, Facts, Kind, Row, Table, Tone
from tare.report.numbers import MINUS, bytes_text, fixed, places_for, scale_for
from tare.report.result import ComparisonResult, QueryResult
from tare.report.time import lines


def blocks(found: ComparisonResult, a: QueryResult, b: QueryResult) -> Iterator[Block]:
    """Means by part, which add up to the difference of the mean wall times; then plan, bytes and answer."""
    of_a, of_b = lines.mean_parts(a), lines.mean_parts(b)
    if of_a is not None and of_b is not None:
        scale = scale_for("ms", [of_a.wall, of_b.wall])
        places = places_for(max(of_a.wall, of_b.wall) / scale.factor, 4)

        def shown(value: float) -> str:
            return fixed(value / scale.factor, places)

        def signed(value: float) -> str:
            text = f"{value / scale.factor:+.{places}f}".replace("-", MINUS)
            return text if float(f"{value / scale.factor:.{places}f}") else shown(0.0)

        rows: list[Row] = []
        for name in of_a.parts:
            if name in of_b.parts:
                one, other = of_a.parts[name], of_b.parts[name]
                rows.append([lines.PART_WORDS[name], shown(one), shown(other), signed(other - one)])
        rows.append(
            [
                Cell("wall", tone=Tone.STRONG),
                shown(of_a.wall),
                shown(of_b.wall),
                Cell(signed(of_b.wall - of_a.wall), tone=Tone.STRONG),
            ]
        )
        yield Table(
            f"What the difference is made of: mean {scale.unit} of the leader, by part",
            [Column("", Kind.NAME), Column("A"), Column("B"), Column("B − A")],
            rows,
        )
    yield Facts("", list(_facts(found, a, b)))


def _facts(found: ComparisonResult, a: QueryResult, b: QueryResult) -> Iterator[tuple[str, Cell | str]]:
    plans = a.plan.fingerprint, b.plan.fingerprint
    if None not in plans and a.sql == b.sql:
        same = plans[0] == plans[1]
        text = "the same" if same else f"changed: {plans[0]} in A, {plans[1]} in B"
        yield "plan", Cell(text, tone=Tone.PLAIN if same else Tone.CAUTION)
    read = a.resources.read_bytes.median, b.resources.read_bytes.median
    if read[0] is not None and read[1] is not None and any(read):
        yield "bytes read from the disk", f"{bytes_text(read[0])} in A, {bytes_text(read[1])} in B"
    if found.answers_agree is not None:
        text = "the same" if found.answers_agree else "differ"
        yield "answers", Cell(text, tone=Tone.PLAIN if found.answers_agree else Tone.BAD)
