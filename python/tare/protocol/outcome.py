"""Outcome of a protocol: its steps, its drop tables, and each Q@C's time. Reports are made of this.

Rows are Ibis expressions, so that a lab of half a million QEs is never held in memory at once;
counts and tables of a page's length are plain values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what judges one Q@C needs no engine
    import ibis.expr.types as ir


class Level(StrEnum):
    EXPERIMENT = "experiment"
    QE = "qe"
    QATC = "qatc"


@dataclass(frozen=True, slots=True)
class CheckCount:
    """Count of a sanity check over all that it judged."""

    number: int
    name: str
    source: str  # "TTPv2 Table XI"
    level: Level
    judged: int  # cases that could be judged
    violations: int
    unjudged: str | None  # why the others could not be
    explained: int = 0  # violations with a recorded cause that leaves all other cases as they are

    @property
    def share(self) -> float | None:
        """Share of the judged cases; None if there were none."""
        return self.violations / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class Remaining:
    """Row of the drop table (TTPv2 Table XIII): the rest after a sub-step."""

    step: str  # "at start", "after step 2", "after step 3-(i)", …
    source: str
    qes: int
    qatcs: int
    dropped_qes: int  # by this sub-step
    dropped_qatcs: int


@dataclass(frozen=True, slots=True)
class PostCheck:
    """Row of TTPv2 Table XIV. `value` is a share, or a count where `unit` says so."""

    number: int
    name: str
    source: str
    value: float | None
    unit: str  # "share" or "count"
    reason: str | None  # why there is no value
    detail: tuple[str, ...] = ()  # the names of the non-varying measures, …


@dataclass(frozen=True, slots=True)
class Precision:
    """Table XVII's last rows: the standard deviation over the median, averaged over the retained Q@Cs."""

    retained_qatcs: float | None  # share of the Q@Cs at start
    qes_per_retained_qatc: float | None
    relative_error_measured: float | None
    relative_error_calculated: float | None


@dataclass(frozen=True)
class Outcome:
    """Outcome of a protocol over a set of runs.

    `times` has a row for each Q@C at start: qatc_id, run_id, query_id, query, query_number, dbms, cardinality,
    plan_fingerprint, qes (retained), retained (bool), step (that dropped it, or NULL), rule,
    time_ms (median of the calculated times; NULL if dropped), low_ms, high_ms (distribution-free 95%
    interval; NULL below 6 QEs), sd_ms, measured_ms (mean time_meas over retained QEs), measured_sd_ms,
    strict, relaxed (bool: a monotonicity violation against the next higher cardinality, after the protocol).
    `qes` has a row for each QE at start: qe_id, qatc_id, run_order, number, retained (bool: by Step 2;
    Step 3 may still have dropped its Q@C), time_ms
    (calculated; also of dropped QEs where it can be), measured_ms, and the parts that time_ms is the sum of,
    each `part_<name>_ms`.
    `exclusions` has a row for each rule that a QE or Q@C was dropped by (several may hold of one):
    level, qe_id (NULL for a Q@C), qatc_id, step, number, rule, source, evidence (text with the values).
    """

    protocol: str  # "ttp2", "ttp1", "exact"
    title: str
    citation: str
    tick_ns: int
    min_qes: int
    checks: tuple[CheckCount, ...]
    accepted: tuple[str, ...]  # experiment-wide checks that the user accepts as deviations, by name
    stopped: str | None  # the experiment-wide violation that stopped the analysis; then what follows is empty
    remaining: tuple[Remaining, ...]
    post: tuple[PostCheck, ...]
    precision: Precision
    deviations: tuple[str, ...]
    coefficients: Mapping[str, Mapping[str, float]]  # TTPv1's regression, by DBMS; else empty
    times: ir.Table | None
    qes: ir.Table | None
    exclusions: ir.Table | None
