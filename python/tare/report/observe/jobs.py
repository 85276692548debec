"""Jobs of a lab as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.lab.jobs import STALLED_S, Job, JobState
from tare.report.kit.blocks import Cell, Column, Kind, Row, Table, Tone
from tare.report.words import NOTHING, ago, duration

_TONES = {JobState.DONE: Tone.GOOD, JobState.FAILED: Tone.BAD}


def table(jobs: Sequence[Job]) -> Table:
    rows: list[Row] = [
        [
            str(one.id),
            one.experiment,
            one.dbms,
            _state(one),
            one.executor or (f"wants {one.wanted}" if one.wanted else NOTHING),
            Cell(f"e{one.run_id}", href=f"runs/e{one.run_id}") if one.run_id else NOTHING,
            ago(one.silent_s) if one.state is JobState.CLAIMED else NOTHING,
        ]
        for one in jobs
    ]
    headings = ("job", "experiment", "DBMS", "state", "executor", "run", "last heard from")
    return Table(
        f"A claimed job is stalled after {duration(STALLED_S)} of silence.",
        [Column(heading, Kind.NAME) for heading in headings],
        rows,
    )


def document(job: Job) -> dict[str, Any]:
    return {
        "job": job.id,
        "experiment": job.experiment,
        "dbms": job.dbms,
        "kind": job.kind,
        "state": "stalled" if job.is_stalled else job.state.value,
        "wanted": job.wanted,
        "executor": job.executor,
        "machine": job.machine,
        "generation": job.generation,
        "run": f"e{job.run_id}" if job.run_id else None,
        "said": job.said,
        "silent_s": job.silent_s,
    }


def _state(job: Job) -> Cell:
    if job.is_stalled:
        return Cell("stalled", tone=Tone.BAD)
    return Cell(job.state.value, note=job.said or "", tone=_TONES.get(job.state, Tone.PLAIN))
