"""The story of protocols over runs: what times they give, what they checked, and what they dropped and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
from tare.protocol.outcome import Level, Outcome
from tare.report.kit.blocks import (
    Block,
    Charts,
    Column,
    Paragraph,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.numbers import MINUS, thousands
from tare.report.protocol import tables
from tare.report.words import joined, protocol_name, two_digits
from tare.version import VERSION

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

MOST_TIMES = 2000  # Q@Cs of which a file has the times; --times writes all


def story(
    outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]], title: str | None = None
) -> Story:
    """`fewer`: by protocol, where it was requested."""
    return Story(
        title=title or f"Times by {joined([protocol_name(one.protocol) for one in outcomes])}",
        under=f"Written by Tare {VERSION}",
        written_by=VERSION,
        blocks=list(_blocks(outcomes, fewer)),
    )


def _blocks(outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]]) -> Iterator[Block]:
    for one in outcomes:
        yield answer(one)
    for one in outcomes:
        yield Section(one.protocol, one.title, list(_protocol(one, fewer.get(one.protocol, ()))))
    if len(outcomes) > 1:
        yield Section("side-by-side", "Protocols side by side", [
            tables.side_by_side([(one.protocol, len(one.checks) + len(one.post), one.precision) for one in outcomes])
        ])  # fmt: skip


def answer(outcome: Outcome, objections: Sequence[str] = ()) -> Verdict:
    """Number of Q@Cs that the protocol gives times of, and their precision. GOOD only if nothing stands against them.

    `objections`: more reasons not to rely on them."""
    name = protocol_name(outcome.protocol)
    name = f"{name[:1].upper()}{name[1:]}"
    if outcome.stopped:
        return Verdict("", f"{name} gives no times: {outcome.stopped}.", Tone.BAD)
    start, end = outcome.remaining[0].qatcs, outcome.remaining[-1].qatcs
    if not end:
        return Verdict("", f"{name} gives no times: none of {thousands(start)} Q@Cs is left.", Tone.BAD)
    each, error = outcome.precision.qes_per_retained_qatc, outcome.precision.relative_error_calculated
    text = f"{name} gives times of {thousands(end)} of {thousands(start)} Q@Cs ({two_digits(end / start)})"
    if each is not None:
        text += f", from {each:.1f} QEs each"
    if error is not None:
        text += f"; on average their standard deviation is {two_digits(error)} of the time"
    reasons = [*objections, *_reasons(outcome, end / start)]
    return Verdict("", f"{text}.", Tone.CAUTION if reasons else Tone.GOOD, reasons)


def _reasons(outcome: Outcome, retained: float) -> Iterator[str]:
    """Reasons that a reader must know before relying on the times."""
    yield from (f"accepted although violated: {one}" for one in outcome.accepted)
    yield from (f"deviation: {one}" for one in outcome.deviations)
    for check in outcome.checks:
        if check.level is Level.EXPERIMENT and check.unjudged:
            yield f"not judged{' in some' if check.judged else ''}: {check.name} ({check.unjudged})"
    if retained < 0.5:
        yield "more than half of the Q@Cs were dropped: the others may not stand for them"


def _protocol(outcome: Outcome, fewer: Sequence[Fewer]) -> Iterator[Block]:
    yield Paragraph(outcome.citation, Tone.QUIET)
    yield tables.checks(outcome.protocol, outcome.checks, outcome.accepted)
    if outcome.stopped:
        return
    yield Charts(partial(_funnel, outcome))
    yield tables.remaining(outcome.protocol, outcome.remaining)
    if fewer:
        yield _fewer(fewer)
    yield tables.post_checks(outcome.protocol, outcome.post)
    yield from coefficients(outcome.coefficients)
    assert outcome.times is not None
    total = outcome.times.count().to_pyarrow().as_py()
    ordered = outcome.times.order_by("run_id", "query_number", "cardinality").limit(MOST_TIMES)
    yield tables.times(outcome.protocol, map(_timed, rows(ordered)), total)


def _funnel(outcome: Outcome) -> list[Chart | NoChart]:
    from tare.report.protocol.charts import funnel

    return [funnel.chart(outcome)]


def _fewer(found: Sequence[Fewer]) -> Table:
    return Table(
        "What fewer QEs a Q@C would have dropped (TTPv2 Table II)",
        [*map(Column, ("QEs of a Q@C", "Q@Cs dropped", "share", "QEs retained"))],
        [
            [
                str(one.original_qes),
                thousands(one.dropped_qatcs),
                tables.share(one.share),
                "–" if one.qes_per_retained_qatc is None else f"{one.qes_per_retained_qatc:.1f}",
            ]
            for one in found
        ],
    )


def coefficients(by_dbms: Mapping[str, Mapping[str, float]]) -> Iterator[Paragraph]:
    for dbms, found in by_dbms.items():
        values = ", ".join(f"{name} = {value:.4g}" for name, value in found.items()).replace("-", MINUS)
        yield Paragraph(f"Regression of I/O wait, {dbms}: {values}.")


def _timed(row: Mapping[str, Any]) -> tables.Timed:
    return tables.Timed(
        run=row["run_id"],
        dbms=row["dbms"],
        query=row["query"],
        cardinality=row["cardinality"],
        qes=row["qes"] or 0,
        time_ms=row["time_ms"],
        low_ms=row["low_ms"],
        high_ms=row["high_ms"],
        sd_ms=row["sd_ms"],
        measured_ms=row["measured_ms"],
        rule=None if row["retained"] else row["rule"] or row["step"],
        strict=bool(row["strict"]),
        relaxed=bool(row["relaxed"]),
    )
