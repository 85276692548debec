"""The story of a lab as it is now: which runs work, which executors are silent, what there is to report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tare.lab.jobs import Job
from tare.lab.live import RunCounts
from tare.lab.oltp import Listed
from tare.lab.progress import RunFacts
from tare.lab.run_ids import Kind as RunKind
from tare.lab.run_ids import RunId
from tare.lab.states import RunState
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
from tare.report.numbers import thousands
from tare.report.observe.jobs import table as job_table
from tare.report.oltp import words as oltp_words
from tare.report.words import NOTHING, ago, counted, duration, joined
from tare.version import VERSION

MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class RunNow:
    """A run, and whether a living executor holds it. `silent_after_s`: from its specification."""

    run: RunFacts
    is_held: bool
    counts: RunCounts
    silent_after_s: float

    @property
    def id(self) -> str:
        return str(RunId(RunKind.EXPERIMENT, self.run.id))

    def silent_s(self, now: datetime) -> float | None:
        """Seconds since the last sign of life; by the clock of the machine that looks."""
        if self.run.heartbeat_at is None:
            return None
        return (now - datetime.fromisoformat(self.run.heartbeat_at)).total_seconds()

    def is_silent(self, now: datetime) -> bool:
        silent = self.silent_s(now)
        is_running = self.run.state is RunState.RUNNING
        return is_running and (not self.is_held or (silent is not None and silent > self.silent_after_s))


def story(
    lab: str,
    runs: Sequence[RunNow],
    loads: Sequence[Listed],
    jobs: Sequence[Job] = (),
    now: datetime | None = None,
) -> Story:
    """`loads`: transactional runs. `now`: UTC."""
    now = now or datetime.now(UTC)
    return Story(
        title=f"Lab {lab}",
        under=f"as of {moment(now)} · Tare {VERSION}",
        written_by=VERSION,
        blocks=list(_blocks(runs, loads, jobs, now)),
    )


def _blocks(
    runs: Sequence[RunNow], loads: Sequence[Listed], jobs: Sequence[Job], now: datetime
) -> Iterator[Block]:
    yield _answer(runs, loads, now)
    if jobs:
        yield Section("jobs", "Jobs", [job_table(list(reversed(jobs))[:MOST_RUNS])])
    if runs:
        newest = list(reversed(runs))[:MOST_RUNS]
        yield Section("runs", "Experiments", [_table(newest, len(runs), now)])
        yield Section("machines", "Machines", [_machines(runs, now)])
    if loads:
        newest_loads = list(reversed(loads))[:MOST_RUNS]
        yield Section("loads", "Transactional runs", [_loads(newest_loads, len(loads))])


def _answer(runs: Sequence[RunNow], loads: Sequence[Listed], now: datetime) -> Block:
    working = [one for one in runs if one.run.state is RunState.RUNNING and not one.is_silent(now)]
    silent = [one for one in runs if one.is_silent(now)]
    paused = [one for one in runs if one.run.state is RunState.PAUSED and one.is_held]
    failed = [one for one in runs if one.run.state is RunState.FAILED]
    if not runs and not loads:
        return Verdict("", "The lab has no runs yet.", Tone.PLAIN)
    measured = f"{joined([one.id for one in working])} {'is' if len(working) == 1 else 'are'} being measured"
    of_all = counted(len(runs) + len(loads), "run")
    sentences = [f"{measured if working else 'Nothing is being measured'}; the lab has {of_all}."]
    for found, what in ((silent, "silent"), (paused, "paused, and waits"), (failed, "failed")):
        if found:
            verb = "is" if len(found) == 1 else "are"
            verb = "" if what == "failed" else f"{verb} "
            sentences.append(f"{joined([one.id for one in found[:10]])} {verb}{what}.")
    tone = Tone.BAD if silent or failed else Tone.CAUTION if paused else Tone.GOOD
    return Verdict("", " ".join(sentences), tone)


def _table(runs: Sequence[RunNow], total: int, now: datetime) -> Table:
    columns = [
        Column("run", Kind.NAME),
        Column("experiment", Kind.NAME),
        Column("DBMS", Kind.NAME),
        Column("state", Kind.NAME),
        Column("Q@Cs visited"),
        Column("executions"),
        Column("last heard from", Kind.NAME),
    ]
    rows: list[Row] = [
        [
            Cell(one.id, href=f"runs/{one.id}"),
            one.run.experiment,
            f"{one.run.dbms} {one.run.dbms_version.partition(' ')[0]}",
            state_cell(one, now),
            Cell(
                thousands(one.counts.visited),
                note=f"{thousands(one.counts.failed)} failed" if one.counts.failed else "",
            ),
            thousands(one.counts.recorded),
            heard(one, now),
        ]
        for one in runs
    ]
    return Table("Newest first.", columns, rows, grows=True, total=total)


def heard(one: RunNow, now: datetime) -> str:
    """When a run's executor was last heard from; of a run that is over, when that was."""
    if one.run.state is RunState.DONE and one.run.ended_at is not None:
        return one.run.ended_at[:19].replace("T", " ")
    return ago(one.silent_s(now))


def state_cell(one: RunNow, now: datetime) -> Cell:
    """The state of a run, as its executor's life shows it."""
    state, said = one.run.state, one.run.said or ""
    if one.is_silent(now):
        note = "its executor is gone" if not one.is_held else f"for {duration(one.silent_s(now) or 0)}"
        return Cell("silent", note=note, tone=Tone.BAD)
    if state is RunState.RUNNING:
        return Cell("running", tone=Tone.GOOD)
    if state is RunState.PAUSED:
        return Cell("paused", note=said, tone=Tone.CAUTION)
    if state is RunState.FAILED:
        return Cell("failed", note=said, tone=Tone.BAD)
    return Cell(state.value)


def _machines(runs: Sequence[RunNow], now: datetime) -> Table:
    """Machines by their facts, with what their executors do."""
    by_machine: dict[str, list[RunNow]] = {}
    for one in runs:
        by_machine.setdefault(_machine(one.run.machine), []).append(one)
    rows: list[Row] = []
    for name, own in by_machine.items():
        held = [one for one in own if one.is_held]
        last = max(own, key=lambda one: one.run.heartbeat_at or "")
        rows.append(
            [
                Cell(name),
                joined([one.run.executor or NOTHING for one in held]) or Cell("none", tone=Tone.QUIET),
                joined([f"{one.id} on {one.run.dbms}" for one in held]) or NOTHING,
                heard(last, now),
            ]
        )
    columns = [
        Column(heading, Kind.NAME) for heading in ("machine", "executor", "runs now", "last heard from")
    ]
    return Table("", columns, rows)


def _machine(facts: Mapping[str, object]) -> str:
    parts = [facts.get(name) for name in ("cpu_model", "operating_system", "kernel")]
    return ", ".join(str(part) for part in parts if part) or "unknown"


def _loads(loads: Sequence[Listed], total: int) -> Table:
    columns = [
        Column("run", Kind.NAME),
        Column("load", Kind.NAME),
        Column("DBMS", Kind.NAME),
        Column("started (UTC)", Kind.NAME),
        Column("rate"),
        Column("p99"),
        Column("valid", Kind.NAME),
    ]
    rows: list[Row] = []
    for one in loads:
        run_id = str(RunId(RunKind.OLTP, one.id))
        p99 = NOTHING if one.p99_ns is None else oltp_words.duration(one.p99_ns / 1e6)
        valid = Cell("valid", tone=Tone.GOOD) if one.valid else Cell("INVALID", tone=Tone.BAD)
        rows.append(
            [
                Cell(run_id, href=f"report?runs={run_id}"),
                f"{one.workload} {one.scale:g}",
                f"{one.dbms} {one.version.partition('-')[0]}",
                one.started_at[:16].replace("T", " "),
                oltp_words.rate(one.rate),
                p99,
                valid,
            ]
        )
    return Table(
        "Newest first. A run enters the lab when it is over.", columns, rows, grows=True, total=total
    )


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def no_lab(what: str, next_step: str) -> Story:
    """The story while the lab cannot be read."""
    return Story(
        "Lab out of reach", f"Tare {VERSION}", VERSION, [Verdict("", what, Tone.BAD), Paragraph(next_step)]
    )
