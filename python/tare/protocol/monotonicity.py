"""Monotonicity: a query over more rows takes no less time (TTPv2 Table XII, 3 and 4; Table XIV, 2 and 3).

Q@Cs of the same query under the same plan, each held against the one with the next higher cardinality.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import ibis
import ibis.expr.types as ir

from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level

SOURCE: Final = "TTPv2 Table XII"

_MISSING: Final = dict.fromkeys(
    ("time_sd", "higher_sd"), "one QE has no standard deviation, which the relaxed check needs"
)

STRICT: Final = Check(
    3,
    "strict monotonicity",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("time", "higher_time"),
            lambda m: m.time > m.higher_time,
            "{time:.2f} {unit} at cardinality {cardinality}, {higher_time:.2f} at {higher_cardinality}",
        ),
    ),
)

RELAXED: Final = Check(
    4,
    "relaxed monotonicity",
    SOURCE,
    Level.QATC,
    (
        Ground(
            ("time", "higher_time", "time_sd", "higher_sd"),
            lambda m: m.time - 0.5 * m.time_sd > m.higher_time + 0.5 * m.higher_sd,
            "{time:.2f} ± {time_sd:.2f} {unit} at cardinality {cardinality}, "
            "{higher_time:.2f} ± {higher_sd:.2f} at {higher_cardinality}",
        ),
    ),
    missing=_MISSING,
)

MONOTONICITY: Final = (STRICT, RELAXED)


def sourced(source: str, first: int) -> tuple[Check, ...]:
    """The same two as another table numbers them."""
    return tuple(replace(one, source=source, number=first + i) for i, one in enumerate(MONOTONICITY))


def adjacent(qatcs: ir.Table) -> ir.Table:
    """Each Q@C that has a next higher one, with that one's `higher_time`, `higher_sd`, `higher_cardinality`.

    `qatcs`: qatc_id, query_id, plan_fingerprint, cardinality, time, time_sd. A Q@C without a plan or a
    time is held against nothing.
    """
    known = qatcs.filter(qatcs.plan_fingerprint.notnull() & qatcs.time.notnull())
    upward = ibis.window(group_by=["query_id", "plan_fingerprint"], order_by=["cardinality"])
    paired = known.mutate(
        higher_time=known.time.lead().over(upward),
        higher_sd=known.time_sd.lead().over(upward),
        higher_cardinality=known.cardinality.lead().over(upward),
    )
    return paired.filter(paired.higher_cardinality.notnull())
