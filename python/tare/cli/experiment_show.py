"""Output of `tare experiment`: a bar and events while a run is made, and how runs stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tare.cli.run_json import run_json
from tare.dbms.url import redacted
from tare.experiment.scenario.base import Range
from tare.experiment.status import RunStatus
from tare.experiment.walk import Observer, QatC, QueryWalk, tally
from tare.lab.ids import experiment_id
from tare.lab.progress import RunFacts
from tare.measure.records import QE


class Bar:
    """Over the Q@Cs that the scenario may visit. Rich's own refresh thread is off: it would wake up while a
    query is being weighed. Nothing is drawn where standard error is no terminal."""

    def __init__(self, run_id: int, dbms: str, walks: Sequence[QueryWalk], cardinalities: Range) -> None:
        self._each = len(cardinalities.cardinalities)  # visits of one walk, at most
        console = Console(stderr=True)
        counted = tally(walks, cardinalities)
        self._qes, self._planned = counted.qes, counted.planned
        self._progress = Progress(
            TextColumn(f"run {experiment_id(run_id)} ({dbms})"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("Q@Cs · {task.fields[qes]:,} QEs"),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console,
            auto_refresh=False,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(
            "", total=counted.planned, completed=counted.visited, qes=self._qes
        )
        self._progress.start()

    def say(self, what: str) -> None:
        self._progress.update(self._task, description=what, refresh=True)

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        self._qes += number is not None
        wall = f"{qe.elapsed.wall_ns / 1e6:.4g} ms" if qe.elapsed else str(qe.outcome)
        self._progress.update(
            self._task,
            description=f"{walk.name} at {qatc.cardinality:,}: {wall}",
            qes=self._qes,
            refresh=True,
        )

    def visited(self, walk: QueryWalk) -> None:
        if walk.error is not None:
            self._planned -= self._each - len(walk.visits)
        self._progress.update(self._task, advance=1 if walk.visits else 0, total=self._planned, refresh=True)

    def close(self) -> None:
        self._progress.stop()


class Events:
    """Prints a JSON object a line, each after the event that it reports is durable."""

    def __init__(self, run_id: int, out: TextIO) -> None:
        self._run_id = run_id
        self._out = out

    def say(self, what: str) -> None:
        self._write({"event": "doing", "what": what})

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        self._write(
            {
                "event": "qe",
                "qe": qe_id,
                "qatc": qatc.id,
                "query": walk.number,
                "cardinality": qatc.cardinality,
                "attempt": qatc.attempt,
                "number": number,
                "run_order": qe.index,
                "warmup": qe.warmup,
                "outcome": qe.outcome.value,
                "started_at": qe.started_at,
                "wall_ns": qe.elapsed.wall_ns if qe.elapsed else None,
                "row_count": qe.row_count,
                "answer_hash": qe.answer_hash,
            }
        )

    def visited(self, walk: QueryWalk) -> None:
        last = walk.visits[-1] if walk.visits else None
        self._write(
            {
                "event": "visited",
                "query": walk.number,
                "cardinality": last.cardinality if last else None,
                "state": last.state.value if last else None,
                "missing": walk.error,
            }
        )

    def _write(self, event: dict[str, Any]) -> None:
        self._out.write(json.dumps({"run": self._run_id, **event}) + "\n")
        self._out.flush()


class Both:
    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def say(self, what: str) -> None:
        for one in self._observers:
            one.say(what)

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        for one in self._observers:
            one.recorded(walk, qatc, number, qe, qe_id)

    def visited(self, walk: QueryWalk) -> None:
        for one in self._observers:
            one.visited(walk)


@contextmanager
def observing(
    run: RunFacts, walks: Sequence[QueryWalk], cardinalities: Range, events: TextIO | None
) -> Iterator[Observer]:
    bar = Bar(run.id, run.dbms, walks, cardinalities)
    try:
        yield Both(bar, Events(run.id, events)) if events else bar
    finally:
        bar.close()


# How runs stand ----------------------------------------------------------------------
def as_json(status: RunStatus) -> dict[str, Any]:
    run, tally = status.run, status.tally
    return {
        **run_json(
            run,
            state=status.shown_state,
            said=run.said,
            executor=run.executor if status.held else None,
        ),
        "qatcs": {
            "planned": tally.planned,
            "visited": tally.visited,
            "timed": tally.timed,
            "same_plan": tally.same_plan,
            "failed": tally.failed,
        },
        "qes": tally.qes,
        "qes_per_qatc": run.qes_per_qatc,
        "failures": [
            {"query": one.query, "cardinality": one.cardinality, "why": one.why} for one in status.failures
        ],
        "missing": [{"query": query, "why": why} for query, why in status.missing],
        "working_s": round(status.working_s, 3),
        "eta_s": None if status.eta_s is None else round(status.eta_s, 1),
        "deviations": list(run.deviations),
    }


def lines(status: RunStatus, lab: str) -> Iterator[str]:
    run, tally = status.run, status.tally
    yield (
        f"run {experiment_id(run.id)} · {run.experiment} ({run.scenario}) on {run.dbms} {run.dbms_version}: "
        f"{_state(status)}"
    )
    yield (
        f"  Q@Cs: {tally.visited:,} of {tally.planned:,} visited: {tally.timed:,} timed, {tally.same_plan:,} with "
        f"the same plan, {tally.failed:,} failed; {tally.qes:,} QEs"
    )
    if status.missing:
        yield f"  missing on this DBMS ({len(status.missing)}):"
        yield from (f"    {query}: {_first(why)}" for query, why in status.missing)
    if status.failures:
        yield f"  failed Q@Cs ({len(status.failures)}):"
        yield from (f"    {one.query} at {one.cardinality:,}: {_first(one.why)}" for one in status.failures)
    if status.shown_state in ("paused", "stopped"):
        yield f"  go on with: tare experiment resume {experiment_id(run.id)} --lab {redacted(lab)}"


def _state(status: RunStatus) -> str:
    run, state = status.run, status.shown_state
    if state == "paused":
        return f"paused — {_first(run.said or 'no reason is known')}"
    if state == "stopped":
        return f"stopped — its executor is gone, last heard {_ago(status.silent_s)}"
    if state == "done":
        return "done"
    eta = "" if status.eta_s is None else f", about {duration(status.eta_s)} to go"
    return f"running ({run.executor}), last heard {_ago(status.silent_s)}{eta}"


def _ago(seconds: float | None) -> str:
    return "never" if seconds is None else f"{duration(seconds)} ago"


def duration(seconds: float) -> str:
    """Two units at most: 3 h 20 min, 45 s."""
    whole = max(0, round(seconds))
    for size, unit, small, part in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


def _first(text: str) -> str:
    return (text.splitlines() or [""])[0]
