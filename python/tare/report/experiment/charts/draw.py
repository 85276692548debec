"""All charts of a report, in the order of the page; one that cannot be drawn says why."""

from __future__ import annotations

from collections.abc import Sequence

from tare.lab.answers import kept
from tare.lab.frames import Frames
from tare.lab.ids import experiment_id
from tare.protocol.model.result import ModelResult
from tare.protocol.outcome import Outcome
from tare.report.charts.chart import Chart, NoChart
from tare.report.conditions.document import Run
from tare.report.experiment import sources
from tare.report.experiment.charts import (
    cardinality,
    components,
    correlations,
    funnel,
    graph,
    pairs,
    runorder,
    timeline,
)
from tare.report.experiment.document import QatC
from tare.report.words import protocol_name

_MOST_RUN_NAMES = 6
_MOST_RUNS = 100


def charts(
    frames: Frames,
    outcomes: Sequence[Outcome],
    primary: Outcome,
    models: Sequence[ModelResult],
    times: list[QatC],
    runs: Sequence[Run],
) -> list[Chart | NoChart]:
    drawn: list[Chart | NoChart] = [funnel.chart(one) for one in outcomes]
    drawn.append(cardinality.chart(times, primary.protocol, protocol_name(primary.protocol)))
    if primary.qes is None:
        why = primary.stopped or f"{protocol_name(primary.protocol)} left no QEs"
        drawn += [
            NoChart(title, why, section)
            for title, section in (
                (components.TITLE, "times"),
                (runorder.TITLE, "qes"),
                (pairs.TITLE, "qes"),
                (timeline.TITLE, "qes"),
            )
        ]
    else:
        drawn += _of_qes(frames, primary, runs)
    for model in models:
        drawn += [correlations.chart(model), *graph.charts(model)]
    return drawn


def _of_qes(frames: Frames, primary: Outcome, runs: Sequence[Run]) -> list[Chart | NoChart]:
    name = protocol_name(primary.protocol)
    qes = kept(sources.qes(primary, frames))
    chosen = timeline.chosen(qes, frames)
    seen = timeline.processes(frames, [row["qe_id"] for _, row in chosen])
    return [
        components.chart(*components.sums(qes, frames), name),
        runorder.chart(*runorder.points(qes), _starts(runs), name),
        pairs.chart(pairs.found_of(kept(pairs.pairs(qes))), name),
        timeline.chart(chosen, seen, runs[0].tick_ms if runs else 10.0),
    ]


def _starts(runs: Sequence[Run]) -> list[dict[str, object]]:
    """Return the place of each run's first QE, by run id, with the runs one after the other; none of very many."""
    if len(runs) > _MOST_RUNS:
        return []
    found: list[dict[str, object]] = []
    at = 0
    for run in sorted(runs, key=lambda one: one.id):
        name = f"run {experiment_id(run.id)}: {run.dbms}" if len(runs) <= _MOST_RUN_NAMES else ""
        found.append({"at": at, "name": name})
        at += run.qes
    return found
