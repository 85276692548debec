"""The exact protocol's own checks of one QE.

The leader's timeline: wall = CPU + own block-I/O delay + run-queue wait + sleep + steal + residue.
Beside it stand CPU and I/O summed over every process that worked for the query.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from tare.protocol.check import Check, Ground
from tare.protocol.named import greatest, magnitude
from tare.protocol.outcome import Level
from tare.protocol.ttp2.qatc_checks import RESULT_CACHE_SDS
from tare.protocol.unmeasured import UNSEEN

SOURCE: Final = "exact protocol"

RESIDUE_SHARE: Final = 0.02  # of the wall time
RESIDUE_FLOOR_NS: Final = 1_000_000  # what the readings' own distance from the clocks may leave over
NEGATIVE_FLOOR_NS: Final = 100_000  # two counters read some microseconds apart may cross by this much

PARTS: Final = ("cpu_ns", "block_io_ns", "run_queue_ns", "sleep_ns", "steal_ns")
TIMELINE: Final = tuple(f"leader_{part}" for part in PARTS)
RESOURCES: Final = (
    "query_run_ns", "query_user_ns", "query_system_ns", "query_block_io_ns", "query_run_queue_ns",
    "utility_run_ns", "utility_block_io_ns",
)  # fmt: skip
BYTES: Final = ("query_read_bytes", "query_write_bytes", "utility_read_bytes")


class Trace(StrEnum):
    """State of the leader's scheduler trace."""

    WHOLE = "whole"
    REJECTED = "rejected"
    NONE = "none"


def _plain(name: str) -> str:
    return name.removeprefix("leader_").removeprefix("query_").removesuffix("_ns").replace("_", " ")


_MISSING: Final = {
    "wall_ns": UNSEEN,
    "trace": UNSEEN,
    "leader_residue_ns": "the residue was not computed",
    **{part: f"a part was not measured: {_plain(part)}" for part in TIMELINE},
}


def _negative(name: str) -> Ground:
    return Ground(
        (name,), lambda m: getattr(m, name) < -NEGATIVE_FLOOR_NS, f"{_plain(name)} is {{{name}:.3ms}}"
    )


def _below_zero(name: str) -> Ground:
    return Ground((name,), lambda m: getattr(m, name) < 0, f"{name.removeprefix('query_')} is {{{name}}}")


PARTS_ADD_UP: Final = Check(
    1,
    "parts add up",
    SOURCE,
    Level.QE,
    (
        Ground(
            ("wall_ns", *TIMELINE, "leader_residue_ns"),
            lambda m: magnitude(m.leader_residue_ns) > greatest(RESIDUE_SHARE * m.wall_ns, RESIDUE_FLOOR_NS),
            "{leader_residue_ns:+.2ms} of {wall_ns:.2ms} are in no part ({residue_share:+.1%})",
        ),
    ),
    missing=_MISSING,
)
"""|residue| within 2% of the wall time, or within 1 ms."""

NO_NEGATIVE_PARTS: Final = Check(
    2,
    "no negative parts",
    SOURCE,
    Level.QE,
    (*(_negative(name) for name in (*TIMELINE, *RESOURCES)), *(_below_zero(name) for name in BYTES)),
    missing=dict.fromkeys((*TIMELINE, *RESOURCES, *BYTES), UNSEEN),
    of_what_is_known=True,
)
"""No part of the timeline and no sum of resources is below zero (by more than 0.1 ms)."""

SLICES_MATCH: Final = Check(
    3,
    "slices match",
    SOURCE,
    Level.QE,
    (Ground(("trace",), lambda m: m.trace == Trace.REJECTED.value, "{trace_why}"),),
    unless=Ground(("trace",), lambda m: m.trace == Trace.NONE.value, "{trace_why}"),
    missing=_MISSING,
)
"""The scheduler trace saw as many switch-ins as the kernel counted slices.

Where it did not, the trace's parts (sleep and steal) are left out, and the reason says so.
"""

EXACT_CHECKS: Final = (PARTS_ADD_UP, NO_NEGATIVE_PARTS, SLICES_MATCH)

RESULT_CACHE_RATIO: Final = 2.0  # a result that was kept costs a small part of one that was computed

POSSIBLE_RESULT_CACHE: Final = Check(
    2,
    "possible query result cache",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("may_cache_results", "first_run", "later_run_max", "later_run_mean", "later_run_sd"),
            lambda m: (
                (m.may_cache_results == 1)
                & (m.first_run > m.later_run_max)
                & (m.first_run > RESULT_CACHE_RATIO * m.later_run_mean)
                & (m.first_run - m.later_run_mean > RESULT_CACHE_SDS * m.later_run_sd)
            ),
            "the first QE ran for {first_run:.2f} ticks on a CPU, the later ones for {later_run_mean:.2f} "
            "± {later_run_sd:.2f}",
        ),
    ),
    missing={
        "first_run": "three QEs with a run time or more are needed",
        "later_run_sd": "three QEs with a run time or more are needed",
    },
)
"""By the run time on a CPU, which a neighbour does not double, and only where the DBMS may have such a cache."""
