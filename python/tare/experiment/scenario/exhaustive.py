"""Exhaustive: time a query at every cardinality (TTPv1 §3)."""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.scenario.base import Range, Scenario, Visit


class Exhaustive(Scenario):
    name = "exhaustive"
    summary = "walk from the largest cardinality down and time every Q@C"

    def next_cardinality(self, cardinalities: Range, visits: Sequence[Visit]) -> int | None:
        walk = cardinalities.cardinalities
        return walk[len(visits)] if len(visits) < len(walk) else None

    def is_timed(self, plan_fingerprint: str, visits: Sequence[Visit]) -> bool:
        return True
