"""TTPv2's sanity checks of one Q@C by itself (Table XII, 1 and 2). Step 3-(i) drops what they find.

They belong to Step 1: they look at every QE of the Q@C that ran to its end, before any is dropped.
Checks 3 and 4 (monotonicity) compare Q@Cs: `tare.protocol.monotonicity`.
"""

from __future__ import annotations

from typing import Final

from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level

SOURCE: Final = "TTPv2 Table XII"

EXCESSIVE: Final = 0.20  # standard deviation of the query's computation time, over its mean
RESULT_CACHE_SDS: Final = 3.0

_MISSING: Final = {
    "computation_sd": "one QE has no variation",
    "computation_mean": "no QE has a computation time",
    "later_wall_sd": "three measured times or more are needed",
    "first_wall": "three measured times or more are needed",
}

EXCESSIVE_VARIATION: Final = Check(
    1,
    "excessive variation in query computation time",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("computation_sd", "computation_mean"),
            lambda m: m.computation_sd > EXCESSIVE * m.computation_mean,
            "query user + system: standard deviation {computation_sd:.1f} ticks, mean {computation_mean:.1f}",
        ),
    ),
    missing=_MISSING,
)

POSSIBLE_RESULT_CACHE: Final = Check(
    2,
    "possible query result cache",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("first_wall", "later_wall_max", "later_wall_mean", "later_wall_sd"),
            lambda m: (
                (m.first_wall > m.later_wall_max)
                & (m.first_wall - m.later_wall_mean > RESULT_CACHE_SDS * m.later_wall_sd)
            ),
            "the first QE took {first_wall:.2f} ticks, the later ones {later_wall_mean:.2f} "
            "± {later_wall_sd:.2f}",
        ),
    ),
    missing=_MISSING,
)

QATC_CHECKS: Final = (EXCESSIVE_VARIATION, POSSIBLE_RESULT_CACHE)
