"""A run as the lab has it: what an executor goes on with, and what a status tells."""

from __future__ import annotations

from tare.experiment.read import read_specification
from tare.experiment.specification import Specification
from tare.experiment.walk import QatC, QueryWalk
from tare.lab.progress import Progress, RunFacts


def specification_of(run: RunFacts) -> Specification:
    return read_specification(run.specification)[0]


def walks_of(progress: Progress) -> list[QueryWalk]:
    """Return the walks in the lab, with which the executor continues."""
    return [
        QueryWalk(
            query.id,
            query.number,
            query.name,
            query.sql,
            query.error,
            [
                QatC(
                    visit.qatc_id,
                    visit.visit,
                    visit.cardinality,
                    visit.plan_fingerprint,
                    visit.state,
                    visit.attempt,
                    set(visit.done),
                    visit.answer,
                )
                for visit in query.visits
            ],
        )
        for query in progress.queries
    ]
