"""The exact protocol over a whole lab, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tare.protocol import experiment_checks as wide
from tare.protocol.exact.checks import NO_NEGATIVE_PARTS, PARTS_ADD_UP, SLICES_MATCH, SOURCE
from tare.protocol.method import Method, QatCStep, SubStep
from tare.protocol.monotonicity import sourced
from tare.protocol.named import Defined
from tare.protocol.post import SIX
from tare.protocol.qatc_rules import query_in_every_qe, too_few
from tare.protocol.quantities import NS_PER_MS
from tare.protocol.ttp2 import checks as v2
from tare.protocol.ttp2.qatc_checks import EXCESSIVE_VARIATION

LOST: Final = (
    replace(v2.EPHEMERAL, number=4, source=SOURCE),
    replace(v2.AMBIGUOUS, number=5, source=SOURCE),
    replace(v2.NO_QUERY_PROCESS, number=6, source=SOURCE),
    replace(v2.TIMED_OUT, number=7, source=SOURCE),
)
"""Without exit records that are whole a worker of the query may be missing from the sum."""

QATC_CHECKS: Final = (
    replace(
        EXCESSIVE_VARIATION,
        source=SOURCE,
        grounds=(
            replace(
                EXCESSIVE_VARIATION.grounds[0],
                evidence="query run time: standard deviation {computation_sd:.2f} ticks, "
                "mean {computation_mean:.2f}",
            ),
        ),
    ),
)
"""TTPv2's check for a result cache has no object: none is on in a session of an experiment. By the measured time it
found whatever ran beside the first QE."""


def _part(name: str, needs: str) -> Defined:
    return Defined(f"part_{name}_ms", (needs,), lambda m: getattr(m, needs) / NS_PER_MS)


EXACT: Final = Method(
    name="exact",
    title="exact protocol",
    citation="Tare, METHODOLOGY.md",
    needed=("wall_ns", "worker_run_ns", "worker_block_io_ns"),
    computation="run_ticks",
    experiment=(
        wide.MISSING_QUERIES,
        wide.UNIQUE_PLAN,
        wide.UNDERLYING_MEASURE,
        wide.DERIVED_MEASURE,
        wide.OTHER_QUERY_PROCESS,
        wide.OTHER_UTILITY_PROCESS,
    ),
    qe_checks=(PARTS_ADD_UP, NO_NEGATIVE_PARTS, SLICES_MATCH, *LOST),
    qatc_checks=QATC_CHECKS,
    monotonicity=sourced(SOURCE, 3),
    drops=(SubStep("step 2", SOURCE, (PARTS_ADD_UP, NO_NEGATIVE_PARTS, *LOST, wide.UNMEASURED)),),
    qatc_drops=(
        QatCStep("step 3-(i)", SOURCE, QATC_CHECKS),
        QatCStep("step 3-(ii)", SOURCE, (query_in_every_qe(SOURCE, 2),)),
        QatCStep("step 3-(iii)", SOURCE, (too_few(SOURCE, 3),)),
    ),
    equations=(
        Defined(
            "time_ms",
            ("worker_run_ns", "worker_block_io_ns"),
            lambda m: (m.worker_run_ns + m.worker_block_io_ns) / NS_PER_MS,
        ),
    ),
    parts={"cpu": _part("cpu", "worker_run_ns"), "block_io": _part("block_io", "worker_block_io_ns")},
    post=SIX[:5],
    post_source=SOURCE,
    start_source=SOURCE,
    told_is_deviation=False,
)
"""A trace that was rejected (check 3) costs the QE its sleep and steal, not its time: that comes from
counters, which the trace only audits. So it is counted and drops nothing."""
