"""A run of an experiment in JSON: the fields that every command gives."""

from __future__ import annotations

from typing import Any

from tare.lab.progress import RunFacts
from tare.lab.run_ids import Kind, RunId


def run_json(run: RunFacts, **stands: str | None) -> dict[str, Any]:
    """The run, its state with explanation (`stands`), and its times."""
    return {
        "run": str(RunId(Kind.EXPERIMENT, run.id)),
        "uuid": run.uuid,
        "experiment": run.experiment,
        "scenario": run.scenario,
        "dbms": run.dbms,
        "dbms_version": run.dbms_version,
        **stands,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "heartbeat_at": run.heartbeat_at,
    }
