"""Did a cache of results answer for the query? Ours: judged by CPU time, and only where the DBMS has such a cache on.

TTPv2 judges by the measured time (Table XII, 2), which a neighbour beside the first QE moves as well.
"""

from __future__ import annotations

from typing import Final

from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level

SOURCE: Final = "result cache"

TIMES: Final = 2.0
"""Factor of cost: a result from a cache costs less than half."""

RESULT_CACHE: Final = Check(
    1,
    "possible query result cache",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("first_cpu_ms", "later_cpu_max_ms"),
            lambda m: m.first_cpu_ms > TIMES * m.later_cpu_max_ms,
            "the first QE took {first_cpu_ms:.3f} ms of CPU, each later one {later_cpu_max_ms:.3f} ms or less",
        ),
    ),
    missing=dict.fromkeys(("first_cpu_ms", "later_cpu_max_ms"), "three CPU times or more are needed"),
)
