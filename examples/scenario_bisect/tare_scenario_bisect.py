"""Bisect: look at both ends, then halve every stretch whose ends have different plans.

Some ten visits find a change among a thousand cardinalities, where OnePass looks at each. A plan that
comes and goes between two ends of one plan is missed. Every Q@C on the way is timed: whether it will
turn out to stand next to a change is not known yet when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tare.experiment.scenario.base import Range, Scenario, Visit


class Bisect(Scenario):
    name = "bisect"
    summary = "halve the cardinalities to where the plan changes; time every Q@C on the way"

    def next_cardinality(self, cardinalities: Range, visits: Sequence[Visit]) -> int | None:
        walk = cardinalities.cardinalities
        plans = {walk.index(visit.cardinality): visit.plan_fingerprint for visit in visits}
        for end in (0, len(walk) - 1):
            if end not in plans:
                return walk[end]
        known = sorted(plans)
        for upper, lower in pairwise(known):
            if plans[upper] != plans[lower] and lower - upper > 1:
                return walk[(upper + lower) // 2]
        return None

    def is_timed(self, plan_fingerprint: str, visits: Sequence[Visit]) -> bool:
        return True
