"""OnePass: walk the cardinalities downwards and time a Q@C only where the plan is a new one (TTPv1 §3)."""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.scenario.base import Range, Scenario, Visit


class OnePass(Scenario):
    name = "onepass"
    summary = "walk from the largest cardinality down; time a Q@C when its plan differs from the one before"

    def next_cardinality(self, cardinalities: Range, visits: Sequence[Visit]) -> int | None:
        walk = cardinalities.cardinalities
        return walk[len(visits)] if len(visits) < len(walk) else None

    def is_timed(self, plan_fingerprint: str, visits: Sequence[Visit]) -> bool:
        return not visits or visits[-1].plan_fingerprint != plan_fingerprint
