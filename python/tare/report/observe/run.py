"""The story of a run as it is now: how far it is, what it measured last, and how the machine was meanwhile."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean, stdev

from tare.lab.live import SHOWN_QES, Execution, QatCLive, QueryLive, RunLive, Runner
from tare.lab.requests import Request
from tare.lab.states import QatCState, RunState
from tare.measure.records import Outcome
from tare.protocol.distributions import student_quantile
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Facts,
    Item,
    Items,
    Kind,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.figure import Figure
from tare.report.numbers import percent, thousands
from tare.report.observe import charts
from tare.report.observe.overview import RunNow, heard, moment, state_cell
from tare.report.words import NOTHING, counted, duration
from tare.version import VERSION

WANTED = 0.02
"""Half-width of an interval, over its estimate, that the page counts the missing executions for."""

MOST_QUERIES = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of the wall times of a Q@C's executions so far, in ns, with its 95% interval by Student's t.

    Preliminary: no protocol has excluded anything, and wall times are rarely normal. `more`: executions until the
    half-width is ±2%, if the spread stays as it is; None: not known."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    more: int | None


def estimate(walls: Sequence[int]) -> Estimate:
    n = len(walls)
    if n == 0:
        return Estimate(0, None, None, None, None)
    mean = fmean(walls)
    if n == 1:
        return Estimate(1, mean, None, None, None)
    sd = stdev(walls)
    half = student_quantile(n - 1, 0.975) * sd / math.sqrt(n)
    if half <= WANTED * mean:
        return Estimate(n, mean, mean - half, mean + half, 0)
    wanted = n
    while student_quantile(wanted - 1, 0.975) * sd / math.sqrt(wanted) > WANTED * mean and wanted < 1_000_000:
        wanted = math.ceil(wanted * 1.05) + 1
    return Estimate(n, mean, mean - half, mean + half, wanted - n)


def time_left(pace_s: Sequence[float], left: int) -> tuple[float, float, float] | None:
    """Seconds until so many visits are over, with a 95% interval, from how long the last ones took; None: too few."""
    if left <= 0 or len(pace_s) < 3:
        return None
    mean = fmean(pace_s)
    n = len(pace_s)
    # The mean's error, and the scatter of the visits to come.
    half = student_quantile(n - 1, 0.975) * stdev(pace_s) * math.sqrt(left * left / n + left)
    return mean * left, max(0.0, mean * left - half), mean * left + half


@dataclass(frozen=True, slots=True)
class Seen:
    """Run with its newest rows. `planned`: Q@Cs that the scenario may visit at most."""

    now: RunNow
    live: RunLive
    planned: int
    requests: Sequence[Request]  # newest first


def story(seen: Seen, now: datetime | None = None) -> Story:
    now = now or datetime.now(UTC)
    run = seen.now.run
    return Story(
        title=f"Run {seen.now.id}: {run.experiment} on {run.dbms} {run.dbms_version.partition(' ')[0]}",
        under=f"as of {moment(now)} · began {run.started_at[:16].replace('T', ' ')} UTC · Tare {VERSION}",
        written_by=VERSION,
        blocks=list(_blocks(seen, now)),
    )


def _blocks(seen: Seen, now: datetime) -> Iterator[Block]:
    live = seen.live
    yield _answer(seen, now)
    yield Facts("", list(_facts(seen, now)))
    if seen.requests:
        yield Section("requests", "Requests", [_requests(seen.requests)])
    yield Section(
        "estimates",
        "Newest Q@Cs",
        [_estimates(live.qatcs)] if live.qatcs else [],
        aside="preliminary: before any protocol excludes an execution",
    )
    yield Section("queries", "Queries", [_queries(live.queries)])
    yield Section("executions", "Executions", [*_charts(live.executions), _executions(live.executions)])
    if live.runners:
        shown = min(SHOWN_QES, len(live.executions))
        yield Section("meanwhile", "Who ran meanwhile", [_runners(live.runners, shown)])
    if seen.now.run.deviations:
        items = [Item(text, tone=Tone.CAUTION) for text in seen.now.run.deviations]
        yield Section("deviations", "Deviations from the protocol", [Items(items)])


def _answer(seen: Seen, now: datetime) -> Verdict:
    cell = state_cell(seen.now, now)
    state = seen.now.run.state
    visited = seen.now.counts.visited
    done = f"{thousands(visited)} of at most {thousands(seen.planned)} Q@Cs visited"
    if state is RunState.DONE:
        return Verdict(
            "Done", f"{thousands(visited)} Q@Cs visited. `tare report` has the results.", Tone.GOOD
        )
    left = time_left(seen.live.pace_s, seen.planned - visited)
    rest = ""
    # An interval that holds 0 says nothing.
    if left is not None and left[1] > 0 and not seen.now.is_silent(now):
        rest = f"; about {duration(left[0])} [{duration(left[1])}, {duration(left[2])}] for all of them"
    # "paused on request" says the state, too.
    words = [cell.note] if cell.note.startswith(cell.value) else [cell.value, *filter(None, [cell.note])]
    title = ": ".join(words)
    tone = Tone.GOOD if cell.tone is Tone.PLAIN else cell.tone
    return Verdict(title[:1].upper() + title[1:], f"{done}{rest}.", tone)


def _facts(seen: Seen, now: datetime) -> Iterator[tuple[str, Cell | str]]:
    run = seen.now.run
    yield "executor", run.executor if run.executor and seen.now.is_held else Cell("none", tone=Tone.QUIET)
    yield "last heard from", heard(seen.now, now)
    yield "executions", thousands(seen.now.counts.recorded)
    yield (
        "Q@Cs",
        (
            f"{thousands(seen.now.counts.visited)} visited, {thousands(seen.now.counts.timed)} timed, "
            f"{thousands(seen.now.counts.failed)} failed"
        ),
    )
    yield "cache", run.cache
    yield "server", run.url


def _requests(requests: Sequence[Request]) -> Table:
    rows: list[Row] = [
        [
            one.action.value,
            _clock(one.requested_at),
            _clock(one.obeyed_at) if one.obeyed_at else Cell("not yet", tone=Tone.CAUTION),
        ]
        for one in requests
    ]
    return Table(
        "Times are UTC.", [Column(name, Kind.NAME) for name in ("request", "requested", "obeyed")], rows
    )


def _estimates(qatcs: Sequence[QatCLive]) -> Table:
    columns = [
        Column("query", Kind.NAME),
        Column("state", Kind.NAME),
        Column("cardinality"),
        Column("executions"),
        Column("mean wall time"),
        Column("until ±2%"),
    ]
    rows: list[Row] = []
    for one in qatcs:
        found = estimate(one.wall_ns)
        figure = Figure(found.mean, found.low, found.high, n=found.n, unit="ns")
        missing = (
            NOTHING
            if found.more is None
            else "reached"
            if found.more == 0
            else f"{thousands(found.more)} more"
        )
        state = one.state.value + (f", attempt {one.attempt}" if one.attempt > 1 else "")
        rows.append(
            [
                one.query,
                Cell(state, tone=Tone.BAD if one.state is QatCState.FAILED else Tone.PLAIN),
                thousands(one.cardinality),
                str(found.n),
                figure.cell() if found.mean is not None else NOTHING,
                missing,
            ]
        )
    return Table("", columns, rows)


def _queries(queries: Sequence[QueryLive]) -> Table:
    columns = [
        Column("query", Kind.NAME),
        Column("visited"),
        Column("timed"),
        Column("failed"),
        Column("plans"),
        Column("down to"),
        *([Column("missing here", Kind.PROSE)] if any(one.error for one in queries) else []),
    ]
    rows: list[Row] = [
        [
            one.name,
            thousands(one.visited),
            thousands(one.timed),
            Cell(thousands(one.failed), tone=Tone.BAD if one.failed else Tone.PLAIN),
            str(one.plans),
            NOTHING if one.smallest is None else thousands(one.smallest),
            *([one.error or ""] if any(one.error for one in queries) else []),
        ]
        for one in queries[:MOST_QUERIES]
    ]
    caption = "Different plans over cardinality, and the smallest cardinality visited so far."
    return Table(caption, columns, rows, grows=True, total=len(queries))


def _charts(executions: Sequence[Execution]) -> Iterator[Block]:
    if any(one.wall_ns is not None for one in executions):
        yield Charts(lambda: charts.draw(executions))


def _executions(executions: Sequence[Execution]) -> Table:
    columns = [
        Column("started", Kind.NAME),
        Column("query", Kind.NAME),
        Column("number", Kind.NAME),
        Column("outcome", Kind.NAME),
        Column("order"),
        Column("cardinality"),
        Column("wall"),
        Column("CPU"),
    ]
    rows: list[Row] = [
        [
            _clock(one.started_at),
            one.query,
            "warm-up" if one.warmup else NOTHING if one.number is None else str(one.number),
            _outcome(one),
            thousands(one.order),
            thousands(one.cardinality),
            Figure(one.wall_ns, unit="ns").cell() if one.wall_ns else NOTHING,
            Figure(one.cpu_ns, unit="ns").cell() if one.cpu_ns else NOTHING,
        ]
        for one in executions[:SHOWN_QES]
    ]
    shown = min(SHOWN_QES, len(executions))
    return Table(f"The last {counted(shown, 'execution')}, newest first. Times are UTC.", columns, rows)


def _runners(runners: Sequence[Runner], executions: int) -> Table:
    total = sum(one.run_ns for one in runners)
    rows: list[Row] = [
        [
            one.comm,
            one.role,
            Figure(one.run_ns / executions, unit="ns").cell(),
            Cell(percent(one.run_ns / total), share=one.run_ns / total),
        ]
        for one in runners
    ]
    columns = [
        Column("process", Kind.NAME),
        Column("role", Kind.NAME),
        Column("CPU an execution"),
        Column("share"),
    ]
    return Table(
        f"Over the last {counted(executions, 'execution')}, all processes of a name together.", columns, rows
    )


def _outcome(one: Execution) -> Cell:
    if one.outcome == Outcome.OK.value:
        return Cell("ok")
    return Cell(one.outcome, note=one.error or "", tone=Tone.BAD)


def _clock(instant: str) -> str:
    """Time of day, UTC."""
    return datetime.fromisoformat(instant).strftime("%H:%M:%S")
