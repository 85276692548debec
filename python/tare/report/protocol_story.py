"""The story of timing protocols over runs: what each retains, its checks and drop tables, and each Q@C's time.

Tables are those of TTPv2: X to XII (checks), XIII (drops), II (fewer QEs), XIV (post checks), XVII (side by side).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
from tare.protocol.monotonicity import RELAXED, STRICT
from tare.protocol.outcome import CheckCount, Level, Outcome, PostCheck
from tare.protocol.post import EXCESSIVE_VARIATION
from tare.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.numbers import MINUS, decimals, fixed, thousands
from tare.report.origin import Origin
from tare.report.words import NOTHING, one_decimal

NEXT_STEP = "find out why; or take it as a deviation, which every report then lists: --accept CHECK"
MOST_TIMES = 40  # Q@Cs that are listed; --times writes all
LEVELS = {
    Level.EXPERIMENT: "experiment-wide: none may be violated",
    Level.QE: "QEs",
    Level.QATC: "Q@Cs, and adjacent ones",
}
_AGAINST = (EXCESSIVE_VARIATION.name, STRICT.name, RELAXED.name)  # post checks that times can violate
_NUMBERED = Column("")


def story(outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]], origin: Origin) -> Story:
    """Return each protocol, then all of them side by side. `fewer`: by protocol, where it was requested."""
    blocks: list[Block] = [_answer(outcome) for outcome in outcomes]
    for outcome in outcomes:
        found = list(_outcome(outcome, fewer.get(outcome.protocol, ())))
        blocks.append(Section(outcome.protocol, outcome.title, found))
    if len(outcomes) > 1:
        blocks.append(Section("side-by-side", "side by side", [_side_by_side(outcomes)]))
    return Story(
        title=outcomes[0].title if len(outcomes) == 1 else "Timing protocols",
        under=origin.line,
        written_by=origin.written_by,
        blocks=blocks,
    )


def share_text(share: float | None) -> str:
    """A share in per cent, to two significant digits as TTPv2 §9 requests."""
    if share is None:
        return NOTHING
    percent = 100 * share
    return f"{percent:.0f}%" if percent in (0, 100) else f"{percent:.{max(0, 1 - _power(percent))}f}%"


def _power(value: float) -> int:
    return math.floor(math.log10(abs(value)))


# The answer ------------------------------------------------------------------------------
def _answer(outcome: Outcome) -> Verdict:
    """GOOD only if no deviation, no check of the experiment and no post check stands against the times."""
    reasons = list(_reasons(outcome))
    if outcome.stopped:
        return Verdict(
            outcome.title, f"stopped: {outcome.stopped}", Tone.BAD, [*reasons, f"next: {NEXT_STEP}"]
        )
    start, end = outcome.remaining[0], outcome.remaining[-1]
    text = (
        f"{thousands(end.qatcs)} of {thousands(start.qatcs)} Q@Cs "
        f"({share_text(outcome.precision.retained_qatcs)}) and {thousands(end.qes)} of {thousands(start.qes)} QEs "
        "are retained."
    )
    tone = Tone.BAD if not end.qatcs else Tone.CAUTION if reasons else Tone.GOOD
    return Verdict(outcome.title, text, tone, reasons)


def _reasons(outcome: Outcome) -> Iterator[str]:
    for deviation in outcome.deviations:
        yield f"deviation: {deviation}"
    for name in outcome.accepted:
        yield f"accepted although violated: {name}"
    for check in outcome.checks:
        if check.level is Level.EXPERIMENT and check.unjudged:
            yield f"{check.name}: {_unjudged(check)}"
    for post in outcome.post:
        if post.name in _AGAINST and post.value:
            yield f"calculated times, {post.name}: {share_text(post.value)}"


def _unjudged(check: CheckCount) -> str:
    return f"not judged{' in some' if check.judged else ''}: {check.unjudged}"


# A protocol ------------------------------------------------------------------------------
def _outcome(outcome: Outcome, fewer: Sequence[Fewer]) -> Iterator[Block]:
    yield Paragraph(outcome.citation, Tone.QUIET)
    for level, meaning in LEVELS.items():
        checks = [check for check in outcome.checks if check.level is level]
        if checks:
            yield _checks(checks, meaning)
    if outcome.stopped:
        return
    yield _remaining(outcome)
    if fewer:
        yield _fewer(fewer)
    yield _post(outcome.post)
    for dbms, coefficients in outcome.coefficients.items():
        listed = "  ".join(f"{name} = {value:.4g}" for name, value in coefficients.items())
        yield Paragraph(f"regression of iowait, {dbms}: {listed.replace('-', MINUS)}")
    yield from _times(outcome)


def _checks(checks: Sequence[CheckCount], meaning: str) -> Table:
    found: list[Row] = [
        [
            str(check.number),
            Cell(check.name, note=f"({_unjudged(check)})" if check.unjudged else ""),
            Cell(
                thousands(check.violations),
                tone=Tone.BAD if check.violations and check.level is Level.EXPERIMENT else Tone.PLAIN,
            ),
            thousands(check.judged),
            share_text(check.share),
        ]
        for check in checks
    ]
    headings = ("violated", "of", "share")
    return Table("", [_NUMBERED, Column(meaning, Kind.PROSE), *map(Column, headings)], found)


def _remaining(outcome: Outcome) -> Table:
    found: list[Row] = [
        [left.step, *map(thousands, (left.qes, left.dropped_qes, left.qatcs, left.dropped_qatcs))]
        for left in outcome.remaining
    ]
    headings = ("QEs", "dropped", "Q@Cs", "dropped")
    return Table("", [Column("what is left", Kind.NAME), *map(Column, headings)], found)


def _fewer(fewer: Sequence[Fewer]) -> Table:
    found: list[Row] = [
        [
            str(given.original_qes),
            thousands(given.dropped_qatcs),
            share_text(given.share),
            one_decimal(given.qes_per_retained_qatc),
        ]
        for given in fewer
    ]
    headings = ("QEs of a Q@C", "Q@Cs dropped", "share", "QEs retained")
    return Table("", list(map(Column, headings)), found)


def _post(checks: Sequence[PostCheck]) -> Table:
    found: list[Row] = []
    for check in checks:
        notes = [", ".join(check.detail) if check.unit == "count" else "", check.reason or ""]
        note = "; ".join(filter(None, notes))
        if check.value is None:
            value = NOTHING
        else:
            value = share_text(check.value) if check.unit == "share" else f"{check.value:.0f}"
        found.append([str(check.number), Cell(check.name, note=f"({note})" if note else ""), value])
    return Table("", [_NUMBERED, Column("over the calculated times", Kind.PROSE), Column("found")], found)


def _times(outcome: Outcome) -> Iterator[Block]:
    assert outcome.times is not None
    listed = outcome.times.order_by("run_id", "query_number", "cardinality").limit(MOST_TIMES + 1)
    found = rows(listed)
    several = len({row["dbms"] for row in found}) > 1
    lines: list[Row] = []
    for row in found[:MOST_TIMES]:
        if row["time_ms"] is None:
            time, sd, note = NOTHING, NOTHING, f"{row['step']}: {row['rule']}"
        else:
            places = decimals(row["time_ms"], row["sd_ms"])
            time = fixed(row["time_ms"], places)
            sd = NOTHING if row["sd_ms"] is None else fixed(row["sd_ms"], places)
            note = "faster with more rows" if row["strict"] else ""
        measured = NOTHING if row["measured_ms"] is None else fixed(row["measured_ms"], 1)
        names = (row["dbms"], row["query"]) if several else (row["query"],)
        lines.append([*names, thousands(row["cardinality"]), str(row["qes"]), time, sd, measured, note])
    named = ("DBMS", "query") if several else ("query",)
    headings = ("rows", "QEs", "time, ms", "sd", "measured")
    yield Table(
        "",
        [*(Column(name, Kind.NAME) for name in named), *map(Column, headings), Column("", Kind.PROSE)],
        lines,
    )
    if len(found) > MOST_TIMES:
        yield Paragraph(f"the first {MOST_TIMES} Q@Cs; --times FILE.csv writes them all", Tone.QUIET)


# All protocols ---------------------------------------------------------------------------
def _side_by_side(outcomes: Sequence[Outcome]) -> Table:
    precisions = [outcome.precision for outcome in outcomes]
    found: list[Row] = [
        ["sanity checks", *(str(len(outcome.checks) + len(outcome.post)) for outcome in outcomes)],
        ["Q@Cs retained", *(share_text(one.retained_qatcs) for one in precisions)],
        ["QEs per retained Q@C", *(one_decimal(one.qes_per_retained_qatc) for one in precisions)],
        ["relative error, measured", *(share_text(one.relative_error_measured) for one in precisions)],
        ["relative error, calculated", *(share_text(one.relative_error_calculated) for one in precisions)],
    ]
    return Table("", [Column("", Kind.NAME), *(Column(outcome.protocol) for outcome in outcomes)], found)
