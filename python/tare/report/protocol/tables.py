"""Tables of a protocol's outcome: sanity checks, what each step leaves, times; with the papers' own figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from tare.protocol.outcome import Level
from tare.report.kit.blocks import Cell, Column, Kind, Row, Table, Tone
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale, fixed, thousands
from tare.report.protocol.paper import CHECKS, POST, TTP1, TTP2
from tare.report.words import NOTHING, protocol_name, two_digits

MS = Scale("ms", 1.0)
LEVELS = {
    Level.EXPERIMENT: "experiment-wide: none may be violated",
    Level.QE: "QEs",
    Level.QATC: "Q@Cs, and adjacent ones",
}


# What these tables need of an outcome, or of its record in a report ------------------------
class Check(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def judged(self) -> int: ...
    @property
    def violations(self) -> int: ...
    @property
    def share(self) -> float | None: ...
    @property
    def unjudged(self) -> str | None: ...


class Step(Protocol):
    @property
    def step(self) -> str: ...
    @property
    def qes(self) -> int: ...
    @property
    def qatcs(self) -> int: ...
    @property
    def dropped_qes(self) -> int: ...
    @property
    def dropped_qatcs(self) -> int: ...


class Post(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def detail(self) -> Sequence[str]: ...


class Precision(Protocol):
    @property
    def retained_qatcs(self) -> float | None: ...
    @property
    def qes_per_retained_qatc(self) -> float | None: ...
    @property
    def relative_error_measured(self) -> float | None: ...
    @property
    def relative_error_calculated(self) -> float | None: ...


# Checks and drops ------------------------------------------------------------------------------
def checks(protocol: str, found: Sequence[Check], accepted: Sequence[str] = ()) -> Table:
    """Each level's checks below its heading (the shapes of TTPv2 Tables X to XII)."""
    published = any((protocol, one.level, one.number) in CHECKS for one in found)
    rows: list[Row | str] = []
    for level, heading in LEVELS.items():
        of_level = [one for one in found if one.level == level]
        if of_level:
            rows += [heading, *(_check(protocol, one, one.name in accepted, published) for one in of_level)]
    noted = any(not isinstance(row, str) and row[-1] for row in rows)
    columns = [
        Column("sanity check", Kind.NAME),
        *map(Column, ("violated", "of", "share", *(["paper"] if published else []))),
        *([Column("note", Kind.PROSE)] if noted else []),
    ]
    kept = [row if isinstance(row, str) or noted else row[:-1] for row in rows]
    return Table(f"Sanity checks of {named(protocol)}", columns, kept)


def _check(protocol: str, one: Check, is_accepted: bool, published: bool) -> Row:
    violated = Tone.STRONG if one.violations else Tone.PLAIN
    if one.violations and one.level == Level.EXPERIMENT:
        violated = Tone.BAD
    paper = CHECKS.get((protocol, one.level, one.number))
    notes = ["accepted although violated"] if is_accepted and one.violations else []
    if one.unjudged:
        notes.append(f"not judged{' in some' if one.judged else ''}: {one.unjudged}")
    return [
        f"{one.number} {one.name}",
        Cell(thousands(one.violations) if one.judged or one.violations else NOTHING, tone=violated),
        thousands(one.judged),
        share(one.share),
        *([measured(paper, "count" if one.level == Level.EXPERIMENT else "share")] if published else []),
        "; ".join(notes),
    ]


def remaining(protocol: str, steps: Sequence[Step]) -> Table:
    """With what each step dropped, also as a share of what there was before."""
    rows: list[Row] = [[one.step, thousands(one.qes), "", thousands(one.qatcs), ""] for one in steps[:1]]
    for before, one in pairwise(steps):
        rows.append([
            one.step,
            thousands(one.qes), _dropped(one.dropped_qes, before.qes),
            thousands(one.qatcs), _dropped(one.dropped_qatcs, before.qatcs),
        ])  # fmt: skip
    return Table(
        f"What remains after each step of {named(protocol)} (the shape of TTPv2 Table XIII)",
        [Column("step", Kind.NAME), *map(Column, ("QEs", "QEs dropped", "Q@Cs", "Q@Cs dropped"))],
        rows,
    )


def _dropped(n: int, before: int) -> Cell:
    return Cell(thousands(n), note=f"({two_digits(n / before)})" if n and before else "")


def post_checks(protocol: str, found: Sequence[Post]) -> Table:
    published = any((protocol, one.number) in POST for one in found)
    noted = any(_what_to_know(one) for one in found)
    return Table(
        f"Sanity checks over the times that {named(protocol)} calculates (the shape of TTPv2 Table XIV)",
        [
            Column("post-sanity check", Kind.NAME),
            Column("here"),
            *([Column("paper")] if published else []),
            *([Column("note", Kind.PROSE)] if noted else []),
        ],
        [
            [
                f"{one.number} {one.name}",
                measured(one.value, one.unit),
                *([measured(POST.get((protocol, one.number)), one.unit)] if published else []),
                *([_what_to_know(one)] if noted else []),
            ]
            for one in found
        ],
    )


def _what_to_know(one: Post) -> str:
    return one.reason or ", ".join(one.detail)


def side_by_side(outcomes: Sequence[tuple[str, int, Precision]]) -> Table:
    """The rows of TTPv2 Table XVII, ours and the papers'. Of each protocol: its name, its number of checks."""
    theirs = (TTP1, TTP2)
    rows: list[Row] = [
        ["sanity checks", *(str(n) for _, n, _ in outcomes), *(str(one.sanity_checks) for one in theirs)]
    ]
    for name, field, text in (
        ("retained Q@Cs", "retained_qatcs", share),
        ("QEs per retained Q@C", "qes_per_retained_qatc", _tenth),
        ("relative error, measured time", "relative_error_measured", share),
        ("relative error, calculated time", "relative_error_calculated", share),
    ):
        rows.append([
            name,
            *(text(getattr(one, field)) for _, _, one in outcomes),
            *(text(getattr(one, field)) for one in theirs),
        ])  # fmt: skip
    return Table(
        "Beside what the papers report of their own data (TTPv2 Table XVII)",
        [
            Column("", Kind.NAME),
            *(Column(protocol_name(name)) for name, _, _ in outcomes),
            *(Column(f"{protocol_name(one.protocol)}, paper") for one in theirs),
        ],
        rows,
    )


def named(protocol: str) -> str:
    """In running text."""
    return f"the {protocol_name(protocol)}" if protocol == "exact" else protocol_name(protocol)


def share(value: float | None) -> str:
    return NOTHING if value is None else two_digits(value)


def _tenth(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"


def measured(value: float | None, unit: str) -> str:
    """A share, or a count."""
    if value is None:
        return NOTHING
    return two_digits(value) if unit == "share" else fixed(value, 0)


# Times ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Timed:
    """A Q@C's time by one protocol. `rule`: the one that dropped it."""

    run: int
    dbms: str
    query: str
    cardinality: int
    qes: int
    time_ms: float | None
    low_ms: float | None
    high_ms: float | None
    sd_ms: float | None
    measured_ms: float | None
    rule: str | None
    strict: bool
    relaxed: bool

    @property
    def time(self) -> Figure:
        return Figure(self.time_ms, self.low_ms, self.high_ms, unit="ms", spread=self.sd_ms)

    @property
    def remark(self) -> str:
        if self.rule:
            return f"dropped: {self.rule}"
        if self.relaxed:
            return "slower than at more rows, beyond the spread"
        return "slower than at more rows" if self.strict else ""


def times(protocol: str, found: Iterable[Timed], total: int | None = None) -> Table:
    """`total`: Q@Cs there are, where not all are given."""
    listed = list(found)
    remarks = any(one.remark for one in listed)
    rows: list[Row | str] = []
    for heading, one in headed(listed):
        rows += [heading] if heading else []
        rows.append([
            one.query,
            thousands(one.cardinality),
            one.time.cell(MS, bare=True),
            Figure(None if one.time_ms is None else one.sd_ms, spread=one.sd_ms).cell(MS, bare=True),
            str(one.qes),
            Figure(one.measured_ms, unit="ms").cell(MS, bare=True),
            *([one.remark] if remarks else []),
        ])  # fmt: skip
    return Table(
        f"Times by {named(protocol)}, ms: medians of the retained QEs with 95% intervals, their standard deviation, "
        "and the mean of the measured (wall) times",
        [
            Column("query", Kind.NAME),
            *map(Column, ("rows", "time", "sd", "QEs", "measured")),
            *([Column("remark", Kind.PROSE)] if remarks else []),
        ],
        rows,
        grouped=True,
        grows=True,
        total=total,
    )


def headed(listed: Sequence[Timed]) -> Iterator[tuple[str, Timed]]:
    """Each with the heading of its DBMS, where that changes; none where all are of one run."""
    runs = {(one.dbms, one.run) for one in listed}
    again = len({dbms for dbms, _ in runs}) < len(runs)
    before = ""
    for one in listed:
        heading = "" if len(runs) == 1 else f"{one.dbms}, run {one.run}" if again else one.dbms
        yield ("" if heading == before else heading), one
        before = heading
