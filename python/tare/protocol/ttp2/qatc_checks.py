"""TTPv2's sanity checks of one Q@C by itself (Table XII, 1 and 2), over the QEs that Step 2 retained.

Checks 3 and 4 (monotonicity) compare Q@Cs and belong to the whole experiment.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tare.protocol.check import Check, Judgement, Unjudged
from tare.protocol.ttp2.case import Case, cpu_ticks

SOURCE = "TTPv2 Table XII"

EXCESSIVE = 0.20  # standard deviation of the query's computation time, over its mean
RESULT_CACHE_SDS = 3.0


def excessive_variation(cases: Sequence[Case]) -> Judgement:
    if len(cases) < 2:
        return Unjudged(f"{len(cases)} QEs have no variation")
    used = [cpu_ticks(case.query) for case in cases]
    mean, sd = statistics.fmean(used), statistics.stdev(used)
    if sd > EXCESSIVE * mean:
        return f"query user + system: standard deviation {sd:.1f} ticks, mean {mean:.1f}"
    return None


def possible_result_cache(cases: Sequence[Case]) -> Judgement:
    times = [case.wall_ticks for case in cases]
    known = [time for time in times if time is not None]
    if len(known) < len(times) or len(known) < 3:
        return Unjudged("three measured times or more are needed")
    first, later = known[0], known[1:]
    mean, sd = statistics.fmean(later), statistics.stdev(later)
    if first > max(later) and first - mean > RESULT_CACHE_SDS * sd:
        return f"the first QE took {first:.2f} ticks, the later ones {mean:.2f} ± {sd:.2f}"
    return None


QATC_CHECKS: tuple[Check[Sequence[Case]], ...] = (
    Check(1, "excessive variation in query computation time", SOURCE, excessive_variation),
    Check(2, "possible query result cache", SOURCE, possible_result_cache),
)
