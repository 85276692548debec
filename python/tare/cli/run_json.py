"""A run in JSON: what every command that names runs says of it alike."""

from __future__ import annotations

from typing import Any

from tare.lab.progress import RunFacts


def run_json(run: RunFacts, **stands: str | None) -> dict[str, Any]:
    """Return the run's names, how it `stands` (its state, and remarks on it), and when it was made."""
    return {
        "run": run.id,
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
