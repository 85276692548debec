"""The walks of a run as the lab has them: what an executor goes on with, and what a status tells."""

from __future__ import annotations

from tare.experiment.walk import QatC, QueryWalk
from tare.lab.progress import Progress


def walks_of(progress: Progress) -> list[QueryWalk]:
    """What the lab holds, as the executor goes on with it."""
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
